"""The recipe for conda-forge asks for what setup.py and pyproject.toml ask for."""

import re

from support.project.project_files import ROOT

import pytest
import yaml
from packaging.requirements import Requirement

RECIPE = yaml.safe_load((ROOT / 'requirements' / 'conda' / 'recipe.yaml').read_text(encoding='utf-8'))
NOT_ON_PIP = {'python', 'pip'}


def asked(requirements) -> dict[str, str]:
    """Return the bound of each requirement, of pip or of a recipe, by name."""
    pairs = (Requirement(re.sub(r' (?=[<>=])', '', it)) for it in requirements)
    return {it.name.lower(): str(it.specifier) for it in pairs if it.name not in NOT_ON_PIP}


def test_the_recipe_runs_with_what_pip_installs(setup_arguments):
    assert asked(RECIPE['requirements']['run']) == asked(setup_arguments['install_requires'])


def test_the_recipe_builds_with_what_pip_builds_with():
    (requires,) = re.findall(r'requires = (\[.*?\])', (ROOT / 'pyproject.toml').read_text(encoding='utf-8'))
    assert asked(RECIPE['requirements']['host']) == asked(yaml.safe_load(requires))


def test_the_recipe_has_version_licence_and_summary_of_the_package(setup_arguments):
    assert RECIPE['context'] == {key: setup_arguments[key] for key in ('name', 'version')}
    assert RECIPE['about'] == {
        'summary': setup_arguments['description'],
        'license': setup_arguments['license'],
        'license_file': 'LICENSE',
    }
    assert (ROOT / 'requirements' / 'conda' / RECIPE['source']['path']).resolve() == ROOT


@pytest.mark.parametrize('python', ['3.10', '3.13'])
def test_the_recipe_is_one_that_rattler_build_renders(python):
    build = pytest.importorskip('rattler_build', reason='rattler-build is not installed')
    recipe = build.Stage0Recipe.from_file(ROOT / 'requirements' / 'conda' / 'recipe.yaml')
    of_the_forge = {'python': [f'{python}.* *_cpython'], 'c_compiler': ['gcc'], 'c_stdlib': ['sysroot']}
    variants = build.VariantConfig.from_yaml(yaml.safe_dump(of_the_forge))
    (rendered,) = recipe.render(variants)
    package = rendered.recipe.to_dict()
    assert package['build']['string'].startswith(f'py{python.replace(".", "")}')
    assert package['requirements']['build'][1].startswith('gcc_linux')
