"""What an AUBO controller sends over the network, read without the manufacturer's library.

The wire format was observed on the manufacturer's client ``pyaubo_sdk`` 0.24.1; the tests let that client and this
package read the same messages. Nothing here commands the arm.
"""
