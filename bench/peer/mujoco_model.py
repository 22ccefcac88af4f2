"""Runs an MJCF file in MuJoCo: mujoco_model.py SCENE.json OUT.json CONFIG, with `model`, `dt`, `t_end` and `sample` in the scene.

CONFIG is `default` (the options of the file) or `hard`: elliptic cones, impratio 100, contacts as stiff as the time step allows.
"""

import json
import sys
import time

import mujoco

scene = json.load(open(sys.argv[1]))
model = mujoco.MjModel.from_xml_path(scene["model"])
model.opt.timestep = scene["dt"]
if sys.argv[3] == "hard":
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.impratio = 100
    model.geom_solref[:] = [2 * scene["dt"], 1]
    model.geom_solimp[:] = [0.99, 0.9999, 0.001, 0.5, 2]
data = mujoco.MjData(model)
steps = round(scene["t_end"] / scene["dt"])
out = {key: [] for key in ("t", "pos", "quat", "vel", "omega", "wh")}
done, cpu, deepest = 0, 0.0, 0.0


def record():
    """Positions and orientations; velocities are not asked for."""
    out["t"].append(data.time)
    out["pos"].append(data.xpos[1:].tolist())
    out["quat"].append(data.xquat[1:].tolist())
    for key in ("vel", "omega"):
        out[key].append([[0.0, 0.0, 0.0]] * (model.nbody - 1))


mujoco.mj_forward(model, data)
record()
while done < steps:
    count = min(scene["sample"], steps - done)
    begin = time.process_time()
    mujoco.mj_step(model, data, count)
    cpu += time.process_time() - begin
    done += count
    deepest = max([deepest] + [-float(c.dist) for c in data.contact[: data.ncon]])
    record()
    out["wh"].append([done, cpu])
out.update(wall=cpu, steps=done, dt=scene["dt"], penetration=deepest)
json.dump(out, open(sys.argv[2], "w"))
