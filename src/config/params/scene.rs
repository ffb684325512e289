//! The scene and the renderer's reports of it.
use super::table::{REPORTS, SCENE};
use super::{BoundsAxes, ReportDemand, declare::parameters};
use std::ops::RangeInclusive;
use std::path::PathBuf;

parameters! {
    /// `reports.*`.
    pub struct ReportParams {
        [REPORTS]
        demand: ReportDemand = "reports.demand", Choice = "subscribed",
            "When the bridge requests reports from RflySim3D: `subscribed` while one of their topics has a subscriber, `always` from the start. \
            Reports that other programs requested are published either way (docs/reports.md).";
        vehicles: Vec<i32> = "reports.vehicles", Ints(1, 2_147_483_647), live
            "CopterIDs of vehicles and of objects that were created like them, to be described on `scene/vehicles` besides the served vehicles.";
        objects: Vec<String> = "reports.objects", Names(32), live
            "Names of objects of the scene to be described on `scene/objects`, as RflySim3D shows them after a double click; it has no request for \
            all.";
        bounds: BoundsAxes = "reports.bounds", Choice = "own",
            "Axes of the bounds that RflySim3D describes, which the vendor does not document: those of the vehicle or object itself (`own`), or of \
            the `world`.";
    }

    /// `scene.*`.
    pub struct SceneParams {
        [SCENE]
        file: Option<PathBuf> = "scene.file", Str = "",
            "JSON file with further models, maps and named poses for the services of `simulation_interfaces` (docs/scene.md).";
        models: Option<PathBuf> = "scene.models", Str = "",
            "Folder with the XML files of RflySim3D's vehicle models, whose names, classes and heights GetSpawnables then lists (docs/scene.md).";
        created: Vec<PathBuf> = "scene.created", Paths,
            "Files whose `CreateVehicle` lines the renderer has carried out: its CreateLog.txt, or a script that it loaded. Their objects are then \
            known.";
        at_root: bool = "scene.at_root", Bool = false,
            "Offer the services of `simulation_interfaces` without the node's name (`/get_entities`), where RViz's panel and the examples of that \
            standard look for them; otherwise below it (`/rfly_bridge/get_entities`).";
        windows: Vec<u16>
            = "scene.windows", Ints(0, 19), "RflySim3D windows that draw spawned objects and receive the commands of the scene. Empty: `window`."
            => |r| Some(r.read("scene.windows")).filter(|own: &Vec<u16>| !own.is_empty()).unwrap_or_else(|| vec![r.read("window")]);
        network: bool = "scene.network", Bool = false,
            "Send to the renderers of all computers (224.0.0.10:20009) what otherwise goes to `scene.windows`: spawned objects, states, labels, \
            attachments, commands, and the vehicles that the bridge flies itself.";
        texts: bool = "scene.texts", Bool = false,
            "Publish texts that the renderer sends to 224.0.0.10:20002 on `scene/texts`. CopterSim binds the same port: leave this false beside a \
            CopterSim that does not share the port.";
        world: String = "scene.world", Str = "",
            "Name or number of the map that the renderer shows when the bridge starts; the renderer does not report it.";
        ids: RangeInclusive<i32>
            = "scene.first_id", Int(1, 65_535) = 10_001, "First id of spawned objects."
            = "scene.last_id", Int(1, 65_535) = 20_000,
                "Last id of spawned objects. Other ids in use: vehicles up to 10000, and objects created in the renderer's window from 1000 up."
            => |r| r.read("scene.first_id")..=r.read("scene.last_id");
    }
}
