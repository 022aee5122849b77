from spack.package import *


class Edgewire(MesonPackage, PythonPackage):
    """A zero-copy, communication-bound graph kernel: the program, with the C++ library or with the package for Python."""

    # The clone of the repository that this recipe lies in.
    git = __file__.rpartition("/packaging/spack/")[0]

    license("MIT")

    version("main", branch="main")
    variant("python", default=False, description="the package for Python, instead of the C++ library")
    variant("verbs", default=True, description="RDMA verbs transport")
    variant("pmix", default=True, description="start under Slurm, mpirun and other PMIx launchers")

    build_system(conditional("meson", when="~python"), conditional("python_pip", when="+python"), default="meson")

    depends_on("cxx", type="build")
    for needed in ("meson@0.63:", "ninja", "pkgconfig", "cli11", "nlohmann-json"):
        depends_on(needed, type="build")
    for needed in ("fmt", "hwloc@2.5:", "numactl", "libsodium", "isa-l", "xxhash", "liburing", "zstd", "xz", "bzip2", "libpfm4"):
        depends_on(needed)
    depends_on("rdma-core", when="+verbs")
    depends_on("pmix", when="+pmix")
    with when("+python"):
        depends_on("python@3.9:", type=("build", "link", "run"))
        for needed in ("meson@1.3:", "py-meson-python@0.15:", "py-nanobind@2.4:", "patchelf"):
            depends_on(needed, type="build")
        depends_on("py-numpy", type=("build", "run"))

    def meson_args(self):
        features = [f"-D{feature}={'enabled' if self.spec.satisfies('+' + feature) else 'disabled'}" for feature in ("verbs", "pmix")]
        return ["-Dtests=false", "-Dunity=on", "-Ddpdk=disabled"] + features
