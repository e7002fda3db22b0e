"""Does the container build and serve, where no registry of images can be reached? Its steps run in a chroot.

``python -m bench.container`` makes a root of the distribution's packages (mmdebstrap), runs the steps of the
Dockerfile in it as their users, and serves from it with read-only files and a cache. Needs root, on Linux.
"""
