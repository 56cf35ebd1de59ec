"""Package metadata; `pip install -e .[dev]` is the way to install a checkout."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "archivebot/__init__.py").read_text("utf-8"))

MONGO = ["pymongo>=4.9"]
REDIS = ["scrapy-redis>=0.9.1", "redis>=5"]
PLOT = ["matplotlib>=3.8"]
HTTP2 = ["Scrapy[twisted-http2]>=2.19"]
RENDER = ["playwright>=1.49"]
STAMP = ["rfc3161-client>=1.0.3"]
SPARK = ["pyspark>=4"]
SCRAPYD = ["scrapyd>=1.6", "scrapyd-client>=2", "setuptools<81"]
DOCUMENTS = [  # what reads the texts of documents
    "pypdfium2>=5",
    "python-docx>=1.2",
    "openpyxl>=3.1",
    "python-pptx>=1.0",
    "striprtf>=0.0.29",
]
ORACLES = [
    "odfdo>=3.20",
    "scikit-learn>=1.5",
    "networkx>=3",
    "warcio>=1.7.5",
]  # what results are held against
PEERS = [  # what the benchmarks measure beside archivebot, if it is there
    "trafilatura>=2",
    "resiliparse>=0.15",
    "readability-lxml>=0.8",
    "jusText>=3",
    "htmldate>=1.9",
    "simhash>=2.1",
    "formasaurus>=0.10",
]
SERVED = ["jsonschema>=4.20", "schemathesis>=4", "axe-playwright-python>=0.1.8"]  # what serve is held against
DOCS = ["sphinx>=8", "furo>=2024.8.6", "myst-parser>=4"]
CHECKS = ["pytest>=8", "pytest-xdist>=3.6", "hypothesis>=6", "mypy>=1.13", "ruff>=0.9"]
BUILD = ["wheel>=0.43", "types-setuptools"]

setup(
    name="archivebot",
    version=VERSION[1] if VERSION else "0",
    description="A web archive that keeps every page of a topic, block by block and byte for byte",
    long_description=(HERE / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    license="BSD-3-Clause",
    python_requires=">=3.11",
    packages=find_packages(include=["archivebot*", "spiders*", "pipelines*"]),
    package_data={
        "archivebot.text": ["*.txt"],
        "archivebot.content": ["*.json"],
        "archivebot.forms": ["*.json"],
        "archivebot.quality": ["*.json"],
        "archivebot.topic": ["*.txt"],
        "archivebot.sample": ["*/*", "*/*/*"],
        "archivebot.vision": ["*.js"],
        "archivebot.web": ["templates/*", "static/*"],
    },
    install_requires=[
        "Scrapy>=2.16",
        "parsel>=1.9",
        "w3lib>=2.5",
        *DOCUMENTS,
        "form2request>=0.2",
        "lxml>=5",
        "turbohtml>=1.15",
        "ada-url>=1.27",
        "cryptography>=42",
        "tldextract>=5.1",
        "PyStemmer>=3",
        "numpy>=2",
        "scipy>=1.11",
        "datasketch>=2",
        "py3langid>=0.4",
        "babel>=2.16",
        "wcwidth>=0.9",
        "regex>=2024.4",
        "brotli>=1.2",
        "starlette>=1",
        "jinja2>=3.1.6",
        "shtab>=1.7",
        "uvicorn>=0.40",
        'backports.zstd>=1; python_version < "3.14"',
    ],
    extras_require={
        "mongo": MONGO,
        "redis": REDIS,
        "plot": PLOT,
        "scrapyd": SCRAPYD,
        "spark": SPARK,
        "stamp": STAMP,
        "render": RENDER,
        "http2": HTTP2,
        "peers": PEERS,
        "docs": DOCS,
        "dev": [
            *MONGO,
            *REDIS,
            *PLOT,
            *SCRAPYD,
            *STAMP,
            *RENDER,
            *HTTP2,
            *ORACLES,
            *SERVED,
            *DOCS,
            *CHECKS,
            *BUILD,
        ],
    },
    entry_points={
        "console_scripts": ["archivebot = archivebot.program.__main__:main"],
        "scrapy": ["settings = archivebot.settings"],
    },
    classifiers=[
        "Framework :: Scrapy",
        "Programming Language :: Python :: 3.11",
        "Topic :: Internet :: WWW/HTTP :: Indexing/Search",
        "Topic :: System :: Archiving",
    ],
)
