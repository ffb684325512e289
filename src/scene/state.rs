//! The state of the scene, and how requests change it.
use super::bounds::Extent;
use super::created::Created;
use super::datagrams::{Outbox, Recipient};
use super::entities::{Entities, Entity, KeepAlive, Kind, Motion};
use super::file::Library;
use super::models::{check_scale, parse_resource};
use super::names::{check_name, check_namespace, check_new_name};
use super::place::{MapFrame, Place};
use super::refusal::{Cause, Refusal};
use super::worlds::WorldId;
use crate::frames::Transform;
use crate::msgs::geometry_msgs::msg::Pose;
use crate::time::RosTime;
use crate::wire::{
    CopterSimLoad, CopterSimLoadPacket, CopterSimRequestPacket, Height, ObjectStatePacket,
    RebootPacket, ScaledStatePacket,
};
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
    /// The map at the start, if the user says so.
    pub world: Option<WorldId>,
    /// The vehicles that the bridge serves.
    pub vehicles: Vec<u16>,
    /// Objects that the renderer created.
    pub created: Vec<Created>,
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

/// Context of a request.
pub struct Call<'a> {
    /// Datagrams to send.
    pub out: &'a mut Outbox,
    /// Arrival.
    pub now: RosTime,
    /// Seconds since the bridge started.
    pub uptime_s: f64,
    /// The simulator's time is known.
    pub playing: bool,
}

/// A description by the renderer, in the frame of the map.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Of its reference point, FLU.
    pub pose: Transform,
    /// The middle of its bounds, and their sides in m.
    pub bounds: Option<(Transform, [f64; 3])>,
    /// Stamp.
    pub stamp: RosTime,
}

/// A request for a new object.
#[derive(Clone, Copy, Debug)]
pub struct Spawn<'a> {
    /// Name.
    pub name: &'a str,
    /// The bridge may choose another name.
    pub allow_renaming: bool,
    /// The model.
    pub uri: &'a str,
    /// A model as text.
    pub resource_string: &'a str,
    /// Prefix of the name.
    pub namespace: &'a str,
    /// Frame of the pose.
    pub frame_id: &'a str,
    /// Where it appears.
    pub pose: &'a Pose,
}

impl Scene {
    /// A scene with nothing spawned.
    pub fn new(settings: SceneSettings) -> Self {
        let vehicles = settings.vehicles;
        let mut entities = Entities::new(vehicles.iter().copied(), settings.ids);
        for object in &settings.created {
            entities.created(object);
        }
        Self {
            entities,
            library: settings.library,
            frame: settings.frame,
            world: settings.world,
            vehicles,
        }
    }

    /// Forgets the objects of the map and the cameras, which are described anew.
    pub fn begin_descriptions(&mut self) {
        self.entities.forget_map();
    }

    /// The renderer described a vehicle or a spawned object.
    pub fn described(&mut self, id: i32, description: &Description) {
        if let Some((place, extent)) = self.read(description) {
            let stamp = description.stamp;
            self.entities.described(id, place, extent, stamp);
        }
    }

    /// The renderer described an object of the map.
    pub fn object(&mut self, name: &str, description: &Description) {
        if let Some((place, extent)) = self.read(description) {
            let stamp = description.stamp;
            self.entities.object(name, place, extent, stamp);
        }
    }

    /// The renderer described a camera.
    pub fn camera(&mut self, seq_id: i32, description: &Description) {
        if let Some((place, _)) = self.read(description) {
            self.entities.camera(seq_id, place, description.stamp);
        }
    }

    fn read(&self, description: &Description) -> Option<(Place, Option<Extent>)> {
        let Description { pose, bounds, .. } = description;
        let world = self.frame.world;
        let place = Place {
            position: world.ned(pose.translation()),
            attitude: world.ned_attitude(pose.rotation())?,
        };
        let extent = bounds.and_then(|(centre, size)| Extent::around(pose, &centre, size));
        Some((place, extent))
    }

    /// Reads a pose in the map or in the frame of an entity.
    pub fn place(&self, frame_id: &str, pose: &Pose) -> Result<Place, Refusal> {
        if self.frame.is(frame_id) {
            return self.frame.place(pose, None);
        }
        let unknown = |why: String| {
            let map = &self.frame.name;
            let message = format!(
                "unknown frame {frame_id:?}: frame_id must be {map:?}, empty, or the name of an entity with a known pose ({why})"
            );
            Refusal::new(Cause::Pose, message)
        };
        let (name, entity) = { self.entities.find(frame_id) }.map_err(|r| unknown(r.message))?;
        let motion = entity.motion.as_ref();
        let motion = motion.ok_or_else(|| unknown(format!("that of {name:?} is not")))?;
        self.frame.place(pose, Some(&motion.place))
    }

    /// Spawns an object and returns its name.
    pub fn spawn(&mut self, wish: &Spawn<'_>, call: &mut Call<'_>) -> Result<String, Refusal> {
        if wish.uri.is_empty() && !wish.resource_string.is_empty() {
            let message = "resource_string is not supported: the renderer draws its own models; set uri, such as rflysim://3";
            return Err(Refusal::new(Cause::Unsupported, message));
        }
        let wanted = parse_resource(wish.uri, &self.library.models)?;
        let namespace = wish.namespace.trim_matches('/');
        if !namespace.is_empty() {
            check_namespace(namespace).map_err(|why| Refusal::new(Cause::Namespace, why))?;
        }
        let name = self.name(wish, namespace, &wanted.base)?;
        let place = self.place(wish.frame_id, wish.pose)?;
        let mut entity = Entity::new(Kind::Spawned, None, wanted.category);
        entity.vehicle_type = wanted.vehicle_type;
        entity.scale = wanted.scale;
        entity.ground = wanted.ground;
        entity.keep_alive =
            wanted.keep_alive.map(|for_s| KeepAlive { for_s, since_s: call.uptime_s });
        entity.motion = Some(Motion { place, stamp: call.now, ..Motion::default() });
        entity.info.description = wish.uri.to_owned();
        let id = self.entities.spawn(name.clone(), entity)?;
        if let Some(entity) = self.entities.of_id(id) {
            draw(entity, call.out);
        }
        Ok(name)
    }

    fn name(&self, wish: &Spawn<'_>, namespace: &str, base: &str) -> Result<String, Refusal> {
        let with_namespace = |name: &str| match namespace {
            "" => name.to_owned(),
            namespace => format!("{namespace}/{name}"),
        };
        let base = match wish.name {
            "" if wish.allow_renaming => base,
            "" => {
                let message =
                    "name is empty: give one, or set allow_renaming to have one generated";
                return Err(Refusal::new(Cause::NameInvalid, message));
            }
            name => name,
        };
        let name = with_namespace(base);
        check_new_name(&name).map_err(|why| Refusal::new(Cause::NameInvalid, why))?;
        if !self.entities.has(&name) && !wish.name.is_empty() {
            return Ok(name);
        }
        if !wish.allow_renaming {
            let message = format!(
                "{name:?} is the name of an entity already: choose another, or set allow_renaming"
            );
            return Err(Refusal::new(Cause::NameTaken, message));
        }
        let mut numbered = (1..u32::MAX).map(|n| with_namespace(&format!("{base}_{n}")));
        let free = numbered.find(|name| !self.entities.has(name));
        let free = free.filter(|name| check_name(name).is_ok());
        free.ok_or_else(|| {
            let message = format!("no number fits behind {name:?}: choose a shorter name");
            Refusal::new(Cause::NameInvalid, message)
        })
    }

    /// Deletes a spawned object.
    pub fn delete(&mut self, name: &str, call: &mut Call<'_>) -> Result<(), Refusal> {
        let (name, entity) = self.entities.find(name)?;
        let why = match entity.kind {
            Kind::Spawned | Kind::Created => None,
            Kind::Vehicle => Some("is a vehicle, which its CopterSim draws again: end that"),
            Kind::Object => Some("belongs to the map"),
            Kind::Camera => Some("is a camera: sensor<SeqID>.enabled of the bridge"),
        };
        if let Some(why) = why {
            let message =
                format!("{name:?} {why}; only what was spawned or created can be deleted");
            return Err(Refusal::new(Cause::Failed, message));
        }
        let (name, id) = (name.to_owned(), entity.id);
        self.entities.remove(&name);
        erase(id.as_slice(), call.out);
        Ok(())
    }

    /// Moves an entity.
    pub fn put(&mut self, name: &str, place: Place, call: &mut Call<'_>) -> Result<(), Refusal> {
        let (name, entity) = self.entities.find(name)?;
        match (entity.kind, entity.id) {
            (Kind::Spawned | Kind::Created, Some(id)) => {
                if let Some(entity) = self.entities.of_id(id) {
                    entity.motion = Some(Motion { place, stamp: call.now, ..Motion::default() });
                    draw(entity, call.out);
                }
                Ok(())
            }
            (Kind::Vehicle, Some(id)) => {
                let (packet, id) = (move_request(id, &place), u16::try_from(id).unwrap_or(0));
                call.out.packet(Recipient::CopterSim(id), &packet);
                Ok(())
            }
            (Kind::Object, _) => {
                let message = format!("{name:?} belongs to the map, where nothing can be moved");
                Err(Refusal::new(Cause::Failed, message))
            }
            _ => {
                let message = format!(
                    "{name:?} is a camera: sensor<SeqID>.position and .orientation of the bridge move it"
                );
                Err(Refusal::new(Cause::Failed, message))
            }
        }
    }

    /// Changes the size of a spawned object.
    pub fn resize(
        &mut self,
        name: &str,
        scale: [f32; 3],
        call: &mut Call<'_>,
    ) -> Result<(), Refusal> {
        let failed = |message: String| Refusal::new(Cause::Failed, message);
        let scale = check_scale(scale).map_err(failed)?;
        let id = self.entities.id_of(name)?;
        match self.entities.of_id(id) {
            Some(entity) if entity.kind.is_drawn() => {
                entity.scale = scale;
                draw(entity, call.out);
            }
            _ if scale[0] == scale[1] && scale[0] == scale[2] => {
                let text = format!("RflyChangeVehicleSize {id} {}", scale[0]);
                call.out.command(Recipient::Windows, &text);
            }
            _ => {
                return Err(failed(format!(
                    "{name:?} was not spawned here: its size has one factor, give the same along x, y and z, not {scale:?}"
                )));
            }
        }
        Ok(())
    }

    /// Changes the map of the renderer and of `CopterSim`; spawned objects are gone.
    pub fn load(&mut self, world: WorldId, call: &mut Call<'_>) -> Result<(), Refusal> {
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
        let packet = packet.ok_or_else(|| {
            let message = "the name of a map has at most 48 bytes in CopterSim";
            Refusal::new(Cause::Failed, message)
        })?;
        self.clear(call);
        self.forget_objects();
        call.out.command(Recipient::Windows, &text);
        for vehicle in self.vehicles.iter().take(1) {
            call.out.packet(Recipient::CopterSim(*vehicle), &packet);
        }
        call.out.map_changed = true;
        self.world = Some(world);
        Ok(())
    }

    /// The map was changed without the name of the new one.
    pub fn forget_world(&mut self) {
        self.world = None;
        self.forget_objects();
    }

    fn forget_objects(&mut self) {
        self.entities.forget_map();
        self.entities.forget_created();
    }

    /// Deletes what its clients no longer ask for, and returns the names.
    pub fn remove_abandoned(&mut self, call: &mut Call<'_>) -> Vec<String> {
        let removed = self.entities.remove_abandoned(call.uptime_s);
        let (names, ids): (Vec<_>, Vec<_>) = removed.into_iter().unzip();
        erase(&ids, call.out);
        names
    }

    /// Deletes all that was spawned.
    pub fn clear(&mut self, call: &mut Call<'_>) {
        let ids = self.entities.remove_spawned();
        erase(&ids, call.out);
    }

    /// Restarts the simulation of every vehicle.
    pub fn restart(&self, call: &mut Call<'_>) {
        for vehicle in &self.vehicles {
            let packet = RebootPacket::new(RebootPacket::AT_ONCE);
            call.out.packet(Recipient::Autopilot(*vehicle), &packet);
        }
    }
}

/// The addressee of a request to every `CopterSim`.
const ALL: i32 = -1;

/// Sends the renderer a spawned object to draw.
fn draw(entity: &Entity, out: &mut Outbox) {
    let (Some(id), Some(motion)) = (entity.id, &entity.motion) else {
        return;
    };
    let position = motion.place.position.to_array().map(|v| v as f32);
    let euler = motion.place.attitude.euler();
    let euler = [euler.roll, euler.pitch, euler.yaw].map(|v| v as f32);
    let state = ObjectStatePacket::new(id, entity.vehicle_type, position, euler);
    let height = match entity.ground {
        true => Height::Ground,
        false => Height::Given,
    };
    let packet = ScaledStatePacket::new(state, entity.scale).with_height(height);
    out.packet(Recipient::Windows, &packet);
}

/// Sends the renderer objects to delete; a command has room for some dozens of ids.
fn erase(ids: &[i32], out: &mut Outbox) {
    for ids in ids.chunks(16) {
        let list: Vec<_> = ids.iter().map(i32::to_string).collect();
        let text = format!("RflyDelVehicles {}", list.join(","));
        out.command(Recipient::Windows, &text);
    }
}

/// The packet that moves a vehicle in its `CopterSim`.
fn move_request(id: i32, place: &Place) -> CopterSimRequestPacket {
    let [north, east, down] = place.position.to_array();
    let [roll, pitch, yaw] = place.attitude.euler().to_degrees().map(|v| v as f32);
    CopterSimRequestPacket::new(id).at([north, east], yaw).standing([down as f32, roll, pitch])
}
