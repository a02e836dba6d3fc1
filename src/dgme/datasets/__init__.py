"""Data of the paper's experiments."""

from dgme.datasets import finance as finance
from dgme.datasets import mnist as mnist
from dgme.datasets import toy as toy
from dgme.datasets import uci as uci
from dgme.datasets._download import DownloadError as DownloadError
from dgme.datasets._home import Status as Status
from dgme.datasets._home import checksum as checksum
from dgme.datasets._home import find as find
from dgme.datasets._home import status as status
from dgme.datasets._sources import DATASETS as DATASETS
from dgme.datasets._sources import Source as Source
