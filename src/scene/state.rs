//! The state of the scene, and how requests change it.
use super::datagrams::{Outbox, Recipient};
use super::entities::{Entities, Entity, EntityKind, EntityMotion};
use super::error::{Cause, SceneError};
use super::map_pose::{MapFrame, MapPose};
use super::{created::CreatedObject, file::Library, models::check_scale, worlds::WorldId};
use crate::wire::{
    CopterSimLoad, CopterSimLoadPacket, CopterSimRequestPacket, Height, ObjectStatePacket,
    RebootPacket, ScaledStatePacket,
};
use crate::{frames::Transform, msgs::geometry_msgs::msg::Pose, time::RosTime};
use std::ops::RangeInclusive;

/// Settings of a scene.
#[derive(Clone, Debug)]
pub struct SceneSettings {
    /// Models, maps, named poses.
    pub library: Library,
    /// The frame of poses.
    pub frame: MapFrame,
    /// Ids of spawned objects.
    pub ids: RangeInclusive<i32>,
    /// The map at the start, if configured.
    pub world: Option<WorldId>,
    /// The vehicles that the bridge serves.
    pub vehicles: Vec<u16>,
    /// Objects that the renderer created.
    pub created: Vec<CreatedObject>,
}

/// The scene.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Entities by name.
    pub entities: Entities,
    pub(super) library: Library,
    pub(super) frame: MapFrame,
    pub(super) world: Option<WorldId>,
    vehicles: Vec<u16>,
}

/// A request to the scene.
pub struct SceneCall<'a> {
    /// The scene.
    pub scene: &'a mut Scene,
    /// Datagrams to send.
    pub out: Outbox,
    /// Time of arrival.
    pub now: RosTime,
    /// Time since the bridge started, in s.
    pub uptime_s: f64,
    /// The simulator has sent its time.
    pub playing: bool,
}

impl Scene {
    /// Creates a scene without spawned objects.
    pub fn new(settings: SceneSettings) -> Self {
        let vehicles = settings.vehicles;
        let mut entities = Entities::new(vehicles.iter().copied(), settings.ids);
        for object in &settings.created {
            entities.add_created(object);
        }
        Self {
            entities,
            library: settings.library,
            frame: settings.frame,
            world: settings.world,
            vehicles,
        }
    }

    /// Reads a pose that the renderer reports, in the frame of the map; `None` if its rotation is invalid.
    pub fn reported_pose(&self, pose: &Transform) -> Option<MapPose> {
        self.frame.read_transform(pose)
    }

    /// Reads a pose in the map or in the frame of an entity.
    pub fn map_pose(&self, frame_id: &str, pose: &Pose) -> Result<MapPose, SceneError> {
        if self.frame.is(frame_id) {
            return self.frame.map_pose(pose, None);
        }
        let unknown = |why: String| {
            let map = &self.frame.name;
            Cause::Pose.error(format!(
                "unknown frame {frame_id:?}: frame_id must be {map:?}, empty, or the name of an entity with a known pose ({why})"
            ))
        };
        let (name, entity) = self.entities.find(frame_id).map_err(|e| unknown(e.message))?;
        let motion = entity.motion.as_ref();
        let motion = motion.ok_or_else(|| unknown(format!("the pose of {name:?} is unknown")))?;
        self.frame.map_pose(pose, Some(&motion.pose))
    }

    /// Forgets which map is loaded, after a change to a map that the bridge may not list.
    pub fn forget_world(&mut self) {
        self.world = None;
        self.forget_objects();
    }

    fn forget_objects(&mut self) {
        self.entities.forget(&[EntityKind::Object, EntityKind::Camera, EntityKind::Created]);
    }
}

impl SceneCall<'_> {
    /// Deletes an object that was spawned or created.
    pub fn delete(&mut self, name: &str) -> Result<(), SceneError> {
        let (name, entity) = self.scene.entities.find(name)?;
        let why = match entity.kind {
            EntityKind::Spawned | EntityKind::Created => None,
            EntityKind::Vehicle => Some("is a vehicle, which its CopterSim draws: end CopterSim"),
            EntityKind::Object => Some("belongs to the map"),
            EntityKind::Camera => Some("is a camera: set sensor<SeqID>.enabled to false"),
        };
        if let Some(why) = why {
            return Err(Cause::Failed.error(format!(
                "{name:?} {why}; only what was spawned or created can be deleted"
            )));
        }
        let (name, id) = (name.to_owned(), entity.id);
        self.scene.entities.remove(&name);
        erase(id.as_slice(), &mut self.out);
        Ok(())
    }

    /// Moves an entity.
    pub fn set_pose(&mut self, name: &str, pose: MapPose) -> Result<(), SceneError> {
        let (name, entity) = self.scene.entities.find(name)?;
        let why = match (entity.kind, entity.id) {
            (EntityKind::Spawned | EntityKind::Created, Some(id)) => {
                if let Some(entity) = self.scene.entities.of_id(id) {
                    entity.motion = Some(EntityMotion::at_rest(pose, self.now));
                    draw(entity, &mut self.out);
                }
                return Ok(());
            }
            (EntityKind::Vehicle, Some(id)) => {
                let (packet, id) = (move_request(id, &pose), u16::try_from(id).unwrap_or(0));
                self.out.packet(Recipient::CopterSim(id), &packet);
                return Ok(());
            }
            (EntityKind::Object, _) => "belongs to the map, where nothing can be moved",
            _ => "is a camera: sensor<SeqID>.position and .orientation of the bridge move it",
        };
        Err(Cause::Failed.error(format!("{name:?} {why}")))
    }

    /// Changes the size of an entity: a drawn object has a factor per axis, any other entity one factor.
    pub fn resize(&mut self, name: &str, scale: [f32; 3]) -> Result<(), SceneError> {
        let scale = check_scale(scale).map_err(|why| Cause::Failed.error(why))?;
        let id = self.scene.entities.id_of(name)?;
        match self.scene.entities.of_id(id) {
            Some(entity) if entity.kind.is_drawn() => {
                entity.scale = scale;
                draw(entity, &mut self.out);
            }
            _ if scale[0] == scale[1] && scale[0] == scale[2] => {
                let text = format!("RflyChangeVehicleSize {id} {}", scale[0]);
                self.out.command(Recipient::Windows, &text);
            }
            _ => {
                return Err(Cause::Failed.error(format!(
                    "{name:?} was not spawned here: its size has one factor, give the same along x, y and z, not {scale:?}"
                )));
            }
        }
        Ok(())
    }

    /// Changes the map of the renderer and of `CopterSim`; deletes all spawned objects.
    pub fn load(&mut self, world: WorldId) -> Result<(), SceneError> {
        let (text, packet) = match &world {
            WorldId::Name(name) => (
                format!("RflyChangeMapbyName {name}"),
                CopterSimLoadPacket::by_name(ALL, CopterSimLoad::Map, name),
            ),
            WorldId::Number(number) => (
                format!("RflyChangeMapbyID {number}"),
                Some(CopterSimLoadPacket::by_index(ALL, CopterSimLoad::Map, (*number).into())),
            ),
        };
        let too_long = "the name of a map has at most 48 bytes in CopterSim";
        let packet = packet.ok_or_else(|| Cause::Failed.error(too_long))?;
        self.clear();
        self.scene.forget_objects();
        self.out.command(Recipient::Windows, &text);
        if let Some(vehicle) = self.scene.vehicles.first() {
            self.out.packet(Recipient::CopterSim(*vehicle), &packet);
        }
        self.out.map_changed = true;
        self.scene.world = Some(world);
        Ok(())
    }

    /// Deletes the objects whose keep-alive ran out, and returns their names.
    pub fn remove_abandoned(&mut self) -> Vec<String> {
        let removed = self.scene.entities.remove_abandoned(self.uptime_s);
        let (names, ids): (Vec<_>, Vec<_>) = removed.into_iter().unzip();
        erase(&ids, &mut self.out);
        names
    }

    /// Deletes all spawned objects.
    pub fn clear(&mut self) {
        let ids = self.scene.entities.remove_spawned();
        erase(&ids, &mut self.out);
    }

    /// Restarts the simulation of every vehicle.
    pub fn restart(&mut self) {
        for vehicle in &self.scene.vehicles {
            let packet = RebootPacket::new(RebootPacket::AT_ONCE);
            self.out.packet(Recipient::Autopilot(*vehicle), &packet);
        }
    }
}

/// Id in a request to every `CopterSim`; one datagram suffices, because it is also sent to their group.
const ALL: i32 = -1;

/// Sends an object that was spawned or created to the renderer.
pub(super) fn draw(entity: &Entity, out: &mut Outbox) {
    let (Some(id), Some(motion)) = (entity.id, &entity.motion) else { return };
    let (position, euler) = motion.pose.to_f32();
    let state = ObjectStatePacket::new(id, entity.vehicle_type, position, euler);
    let height = if entity.ground { Height::Ground } else { Height::Given };
    let packet = ScaledStatePacket::new(state, entity.scale).with_height(height);
    out.packet(Recipient::Windows, &packet);
}

/// Deletes objects in the renderer: 16 ids of any length fit into a command.
fn erase(ids: &[i32], out: &mut Outbox) {
    for ids in ids.chunks(16) {
        let list: Vec<_> = ids.iter().map(i32::to_string).collect();
        let text = format!("RflyDelVehicles {}", list.join(","));
        out.command(Recipient::Windows, &text);
    }
}

/// The packet that moves a vehicle in its `CopterSim`.
fn move_request(id: i32, pose: &MapPose) -> CopterSimRequestPacket {
    let [north, east, down] = pose.position.to_array();
    let [roll, pitch, yaw] = pose.attitude.euler().to_degrees().map(|v| v as f32);
    CopterSimRequestPacket::new(id).at([north, east], yaw).standing([down as f32, roll, pitch])
}
