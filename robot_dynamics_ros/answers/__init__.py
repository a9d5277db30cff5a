"""What a robot answers, a file a subject: input is checked once, kernels are picked, batches and payload handled."""
