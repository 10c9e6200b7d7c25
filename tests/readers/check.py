"""Reads the exports of one run with the programs that they are for, and compares them: check.py FOLDER NAME

`NAME.npz` is what all others are held against; `NAME.obj` proves it in turn, since both hold every bit and are written
and read by different code. First, middle and last frame; vertices in metres. Leaves with status 1 at the first
difference.
"""

import csv
import sys
from pathlib import Path
from xml.etree import ElementTree

import meshio
import numpy as np
from pxr import Usd, UsdGeom, UsdValidation
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

# Largest error of a vertex [m].
BOUND = 1e-6
# Half a step of single precision, relative: what PC2 has, and the particles of USD, however far from the origin.
SINGLE = 2.0**-24


class Mismatch(Exception):
    pass


def same(thing, found, expected):
    """Numbers, names and counts that have to be equal to the last bit."""
    given, found, expected = found, np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        raise Mismatch(f"{thing}: found {given if found.size < 20 else found.shape}, expected shape {expected.shape}")
    numbers = expected.dtype.kind == "f"
    if not np.array_equal(found, expected, equal_nan=numbers):
        where = np.argwhere(~((found == expected) | ((found != found) & (expected != expected))))[0]
        raise Mismatch(f"{thing} at {where.tolist()}: found {found[tuple(where)]}, expected {expected[tuple(where)]}")


def near(thing, found, expected, bound=BOUND):
    """The largest distance of a vertex from where it should be [m], if that is within the bound."""
    found, expected = np.asarray(found, dtype=np.float64).reshape(-1, 3), expected.reshape(-1, 3)
    if found.shape != expected.shape:
        raise Mismatch(f"{thing}: found {len(found)} vertices, expected {len(expected)}")
    errors = np.linalg.norm(found - expected, axis=1)
    if not np.all(errors <= bound):  # also where one is not a number
        i = int(np.argmax(np.where(np.isfinite(errors), errors, np.inf)))
        raise Mismatch(f"{thing}, vertex {i}: found {found[i]}, expected {expected[i]} to {bound:.1e} m")
    return float(errors.max(initial=0.0))


class Run:
    """What `NAME.npz` holds, surface by surface in the order of the archive."""

    def __init__(self, path):
        self.arrays = arrays = dict(np.load(path, allow_pickle=False))
        self.time, self.rate = arrays["time"], float(arrays["frames_per_second"])
        self.frames = len(self.time)
        self.surfaces = [key[: -len("/vertices")] for key in arrays if key.endswith("/vertices")]
        self.clouds = [key[: -len("/points")] for key in arrays if key.endswith("/points")]
        self.shown = sorted({0, self.frames // 2, self.frames - 1})
        self.check_poses()
        self.check_ids()

    def vertices(self, surface, frame):
        return self.arrays[f"{surface}/vertices"][frame]

    def particles(self, cloud, frame):
        begin, end = self.arrays[f"{cloud}/offsets"][frame : frame + 2]
        return self.arrays[f"{cloud}/points"][begin:end]

    def ids(self, cloud, frame):
        begin, end = self.arrays[f"{cloud}/offsets"][frame : frame + 2]
        return self.arrays[f"{cloud}/ids"][begin:end]

    def triangles(self, surface):
        return self.arrays[f"{surface}/triangles"].astype(np.int64)

    def check_poses(self):
        """A rigid surface is where its pose takes its shape: x + 2 u x (u x v + w v) for the quaternion (u, w)."""
        for surface in (surface for surface in self.surfaces if f"{surface}/position" in self.arrays):
            for frame in self.shown:
                q = self.arrays[f"{surface}/orientation"][frame]
                u, w, rest = q[:3], q[3], self.arrays[f"{surface}/rest"]
                placed = rest + 2 * np.cross(u, np.cross(u, rest) + w * rest) / (q @ q)
                placed += self.arrays[f"{surface}/position"][frame]
                near(f"npz, frame {frame}, pose of {surface}", placed, self.vertices(surface, frame), 1e-12 * 1e3)

    def check_ids(self):
        """As many as particles; in a frame they ascend, so that nobody has the id of another."""
        for cloud in self.clouds:
            same(f"npz, number of ids of {cloud}", len(self.arrays[f"{cloud}/ids"]), len(self.arrays[f"{cloud}/points"]))
            for frame in range(self.frames):
                same(f"npz, frame {frame}, ids of {cloud}", self.ids(cloud, frame), np.unique(self.ids(cloud, frame)))

    def strain(self, surface, frame):
        """By vertex, the relative change of that of its edges which changed most."""
        strain = np.zeros(len(self.arrays[f"{surface}/rest"]))
        if f"{surface}/position" in self.arrays:
            return strain
        now, rest = self.vertices(surface, frame), self.arrays[f"{surface}/rest"]
        edges = np.vstack([self.triangles(surface)[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
        l, l0 = (np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) for x in (now, rest))
        for end in (0, 1):
            order = np.argsort(np.abs(l / l0 - 1), kind="stable")  # the largest is written last
            best = np.zeros_like(strain)
            best[edges[order, end]] = (l / l0 - 1)[order]
            strain = np.where(np.abs(best) > np.abs(strain), best, strain)
        return strain


def check_obj(run, folder):
    same("obj, files", sorted(path.name for path in folder.iterdir()), [f"{i:04}.obj" for i in range(run.frames)])
    for frame in run.shown:
        mesh = meshio.read(folder / f"{frame:04}.obj")
        points = [run.vertices(surface, frame) for surface in run.surfaces]
        points += [run.particles(cloud, frame) for cloud in run.clouds]
        same(f"obj, frame {frame}, vertices", mesh.points, np.vstack(points))
        firsts = np.cumsum([0] + [len(part) for part in points])
        triangles = [run.triangles(surface) + first for surface, first in zip(run.surfaces, firsts)]
        found = np.vstack([block.data for block in mesh.cells if block.type == "triangle"])
        same(f"obj, frame {frame}, triangles", found, np.vstack(triangles))
        names = [line[2:].rstrip("\n") for line in open(folder / f"{frame:04}.obj", encoding="utf-8") if line[:2] == "o "]
        shown = [cloud for cloud in run.clouds if len(run.particles(cloud, frame))]
        same(f"obj, frame {frame}, names", names, run.surfaces + shown)
    return 0.0


def check_usd(run, path):
    stage = Usd.Stage.Open(str(path))
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    same("usda, complaints", [e.GetMessage() for e in UsdValidation.ValidationContext(validators).Validate(stage)], [])
    codes = (run.time - run.time[0]) * run.rate
    same("usda, unit, axis", [UsdGeom.GetStageMetersPerUnit(stage), str(UsdGeom.GetStageUpAxis(stage))], [1.0, "Y"])
    same("usda, codes a second", stage.GetTimeCodesPerSecond(), run.rate)
    same("usda, default prim", stage.GetDefaultPrim().GetDisplayName(), path.stem)
    prims = list(stage.Traverse())
    same("usda, meshes", sum(prim.IsA(UsdGeom.Mesh) for prim in prims), len(run.surfaces))
    same("usda, clouds", sum(prim.IsA(UsdGeom.Points) for prim in prims), len(run.clouds))

    errors = {"usda": 0.0, "usda particles": 0.0}
    for prim in (prim for prim in prims if prim.IsA(UsdGeom.PointBased)):
        name = one_line(f"{prim.GetParent().GetDisplayName()}/{prim.GetDisplayName()}")
        rigid, cloud = f"{name}/position" in run.arrays, prim.IsA(UsdGeom.Points)
        based, moved = UsdGeom.PointBased(prim), prim.GetAttribute("xformOp:translate")
        samples = (moved if rigid else based.GetPointsAttr()).GetTimeSamples()
        near(f"usda, time codes of {name}", np.outer(samples, [1, 0, 0]), np.outer(codes, [1, 0, 0]))
        near("usda, end", [stage.GetEndTimeCode(), 0, 0], np.array([codes[-1], 0, 0]))
        if not cloud:
            same(f"usda, corners of {name}", UsdGeom.Mesh(prim).GetFaceVertexIndicesAttr().Get(), run.triangles(name).ravel())
            same(f"usda, counts of {name}", UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get(), [3] * len(run.triangles(name)))
        for frame in run.shown:
            code = Usd.TimeCode(samples[frame])
            points = np.array(based.GetPointsAttr().Get(code), dtype=np.float64).reshape(-1, 3)
            # Row vectors: p M, as USD has it.
            matrix = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(code))
            world = np.c_[points, np.ones(len(points))] @ matrix
            expected = run.particles(name, frame) if cloud else run.vertices(name, frame)
            bound = max(BOUND, 2 * SINGLE * np.abs(expected).max(initial=0)) if cloud else BOUND
            if cloud:
                # An array without elements may come back as none at all.
                ids = UsdGeom.Points(prim).GetIdsAttr().Get(code) or []
                same(f"usda, frame {frame}, ids of {name}", np.array(ids, dtype=np.int64), run.ids(name, frame).astype(np.int64))
            error, kind = near(f"usda, frame {frame}, {name}", world[:, :3], expected, bound), "usda particles" if cloud else "usda"
            errors[kind] = max(errors[kind], error)
            if len(points):
                radius = UsdGeom.Points(prim).GetWidthsAttr().Get()[0] / 2 if cloud else 0.0
                bounds = np.array([points.min(axis=0) - radius, points.max(axis=0) + radius])
                near(f"usda, frame {frame}, extent of {name}", based.GetExtentAttr().Get(code), bounds, bound)
    return errors


def check_pc2(run, folder):
    names, error = {}, 0.0
    for surface in run.surfaces:
        stem, number = identifier(surface), 2
        while (name := stem if number == 2 else f"{stem}_{number - 1}").lower() in names:
            number += 1
        names[name.lower()] = (name, surface)
    same("pc2, files", sorted(path.name for path in folder.iterdir()), sorted(f"{name}.pc2" for name, _ in names.values()))
    head = np.dtype([("magic", "S12"), ("version", "<i4"), ("points", "<i4"), ("start", "<f4"), ("rate", "<f4"), ("samples", "<i4")])
    for name, surface in names.values():
        data = (folder / f"{name}.pc2").read_bytes()
        header = np.frombuffer(data, head, 1)[0]
        n = len(run.vertices(surface, 0))
        same(f"pc2, header of {name}", list(header)[1:], [1, n, 0, 1, run.frames])
        same(f"pc2, magic of {name}", data[:12] == b"POINTCACHE2\0", True)
        points = np.frombuffer(data, "<f4", offset=head.itemsize).reshape(run.frames, n, 3)
        for frame in run.shown:
            expected = run.vertices(surface, frame)
            bound = max(BOUND, 2 * SINGLE * np.abs(expected).max(initial=0))
            error = max(error, near(f"pc2, frame {frame}, {name}", points[frame], expected, bound))
    return error


def check_vtk(run, path):
    sets = ElementTree.parse(path).getroot().findall("Collection/DataSet")
    same("vtk, times", [float(item.get("timestep")) for item in sets], np.repeat(run.time, 2))
    for frame in run.shown:
        shapes, forces = (read_vtp(path.parent / item.get("file")) for item in sets[2 * frame : 2 * frame + 2])
        points = [run.vertices(surface, frame) for surface in run.surfaces]
        firsts = np.cumsum([0] + [len(part) for part in points])
        drops = [run.particles(cloud, frame) for cloud in run.clouds]
        same(f"vtk, frame {frame}, vertices", vtk_points(shapes), np.vstack(points + drops))
        triangles = [run.triangles(surface) + first for surface, first in zip(run.surfaces, firsts)]
        corners = vtk_to_numpy(shapes.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        same(f"vtk, frame {frame}, triangles", corners, np.vstack(triangles))
        same(f"vtk, frame {frame}, particles", shapes.GetNumberOfVerts(), sum(map(len, drops)))

        strain = np.concatenate([run.strain(surface, frame) for surface in run.surfaces] + [np.zeros(len(d)) for d in drops])
        found = vtk_array(shapes, "strain")
        if np.abs(found - strain).max() > 1e-9:
            raise Mismatch(f"vtk, frame {frame}, strain: off by {np.abs(found - strain).max()}, expected at most 1e-9")
        numbers = np.concatenate([np.full(len(part), i) for i, part in enumerate(points)] + [np.full(len(d), -1) for d in drops])
        same(f"vtk, frame {frame}, surface", vtk_array(shapes, "surface"), numbers)
        ids = [np.full(len(part), -1) for part in points] + [run.ids(cloud, frame).astype(np.int64) for cloud in run.clouds]
        same(f"vtk, frame {frame}, id", vtk_array(shapes, "id"), np.concatenate(ids))
        same(f"vtk, frame {frame}, surfaces", words(shapes, "surfaces"), run.surfaces)
        same(f"vtk, frame {frame}, simulators", words(shapes, "simulators"), run.arrays["simulators"])

        begin, end = run.arrays["forces/offsets"][frame : frame + 2]
        same(f"vtk, frame {frame}, handles", vtk_points(forces), run.arrays["forces/position"][begin:end])
        for array in ("force", "torque", "interface"):
            same(f"vtk, frame {frame}, {array}", vtk_array(forces, array), run.arrays[f"forces/{array}"][begin:end])
    return 0.0


def read_vtp(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    if reader.GetErrorCode() or not reader.GetOutput().GetPointData().GetNumberOfArrays():
        raise Mismatch(f"vtk cannot read {path}")
    return reader.GetOutput()


def vtk_points(poly):
    return vtk_to_numpy(poly.GetPoints().GetData()) if poly.GetNumberOfPoints() else np.zeros((0, 3))


def vtk_array(poly, name):
    return vtk_to_numpy(poly.GetPointData().GetArray(name))


def words(poly, name):
    array = poly.GetFieldData().GetAbstractArray(name)
    return [array.GetValue(i) for i in range(array.GetNumberOfValues())]


def check_csv(run, path):
    rows = list(csv.reader(open(path, newline="", encoding="utf-8"), strict=True))
    table = {name: [float(row[i]) if row[i] else np.nan for row in rows[1:]] for i, name in enumerate(rows[0])}
    same("csv, columns with names of their own", len(table), len(rows[0]))
    same("csv, time", table["time [s]"], run.time)
    whole = {"gap [m]": "gap", "work of the couplings [J]": "work", "momentum error [N s]": "momentum_error"}
    for column, array in whole.items():
        same(f"csv, {column}", table[column], run.arrays[array])
    for i, simulator in enumerate(run.arrays["simulators"]):
        for kind in ("kinetic", "potential"):
            same(f"csv, {kind} energy of {simulator}", table[f"{simulator}: {kind} energy [J]"], run.arrays[kind][:, i])
    for i, (follower, leader) in enumerate(run.arrays["interfaces"]):
        for k, kind in enumerate(("used", "got", "pending")):
            for axis in range(3):
                where = f"{follower} on {leader}: %s {kind} {'xyz'[axis]} [%s]"
                same(f"csv, impulse {kind}", table[where % ("impulse", "N s")], run.arrays["impulses"][:, i, k, axis])
                same(f"csv, twist {kind}", table[where % ("twist", "N m s")], run.arrays["impulses"][:, i, k, 3 + axis])
    return sum(map(len, rows[1:]))


def one_line(name):
    """As the names in `NAME.npz` are: without what would end or continue a line."""
    bad = lambda c: ord(c) < 32 or 127 <= ord(c) < 160 or c in "\\#\u2028\u2029"
    return "".join("_" if bad(c) else c for c in name)


def identifier(name):
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)[:100]
    return f"_{word}" if not word or word[0].isdigit() else word


def main(folder, name):
    try:
        run = Run(folder / f"{name}.npz")
        errors = {
            "obj": check_obj(run, folder / f"{name}.obj"),
            **check_usd(run, folder / f"{name}.usda"),
            "pc2": check_pc2(run, folder / f"{name}.pc2"),
            "vtk": check_vtk(run, folder / f"{name}.vtk" / f"{name}.pvd"),
        }
        cells = check_csv(run, folder / f"{name}.csv")
    except Exception as error:
        sys.exit(f"{name}: {type(error).__name__}: {error}")
    found = ", ".join(f"{kind} {error:.1e}" for kind, error in errors.items())
    counts = f"{len(run.surfaces)} surfaces, {len(run.clouds)} clouds, {run.frames} frames"
    print(f"{name}: {counts}; largest error of a vertex [m]: {found}; csv: {cells} cells")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: check.py FOLDER NAME")
    main(Path(sys.argv[1]), sys.argv[2])
