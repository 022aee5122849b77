from spack.package import *


class Edgewire(MesonPackage, PythonExtension):
    """A zero-copy, communication-bound graph kernel: the program, the C++ library, and the package for Python."""

    license("MIT")

    version("main", branch="main")
    variant("python", default=False, description="the package for Python")
    variant("verbs", default=True, description="RDMA verbs transport")
    variant("pmix", default=True, description="start under Slurm, mpirun and other PMIx launchers")

    depends_on("cxx", type="build")
    depends_on("meson@0.63:", type="build")
    depends_on("pkgconfig", type="build")
    for name in ("cli11", "nlohmann-json"):
        depends_on(name, type="build")
    for name in ("fmt", "hwloc@2.5:", "numactl", "libsodium", "isa-l", "xxhash", "liburing", "zstd", "xz", "bzip2", "libpfm4"):
        depends_on(name)
    depends_on("rdma-core", when="+verbs")
    depends_on("pmix", when="+pmix")
    with when("+python"):
        extends("python@3.9:")
        depends_on("meson@1.3:", type="build")
        depends_on("py-nanobind@2.4:", type="build")
        depends_on("py-numpy", type=("build", "run"))

    def meson_args(self):
        def feature(name):
            return f"-D{name}={'enabled' if self.spec.satisfies('+' + name) else 'disabled'}"

        return ["-Dtests=false", "-Dunity=on", "-Ddpdk=disabled", f"-Dpython={str(self.spec.satisfies('+python')).lower()}",
                feature("verbs"), feature("pmix")]
