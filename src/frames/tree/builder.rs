use super::{
    Edge, FrameError, FrameNames, FrameTree, PlacedSensor, SensorFrames, SensorMount, Source,
    VehicleTransforms,
};
use crate::frames::mount::{Mount, MountReference, mount_transform};
use crate::frames::{Attitude, Optical, Transform, Vector};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Collects edges and all errors in them.
pub(super) struct Builder {
    names: FrameNames,
    edges: Vec<Edge>,
    by_child: HashMap<String, usize>,
    problems: Vec<FrameError>,
}

impl Builder {
    pub(super) fn new(names: FrameNames) -> Self {
        Self { names, edges: Vec::new(), by_child: HashMap::new(), problems: Vec::new() }
    }

    pub(super) fn build(
        mut self,
        vehicles: &[u16],
        sensors: &[SensorMount],
    ) -> Result<FrameTree, Vec<FrameError>> {
        let mounts: BTreeMap<u16, Mount> = sensors.iter().map(|s| (s.seq_id, s.mount)).collect();
        let mut vehicles: BTreeSet<u16> = vehicles.iter().copied().collect();
        vehicles.extend(sensors.iter().filter_map(|s| s.mount.vehicle()));
        let mut transforms: BTreeMap<u16, VehicleTransforms> =
            vehicles.iter().map(|id| (*id, VehicleTransforms::default())).collect();
        let mut placed_sensors = BTreeMap::new();

        let map = self.names.map.clone();
        self.check_name(&map);
        if self.names.ned_frames {
            let ned = self.names.world.pose(Vector::zero(), Attitude::identity()) * half_turn();
            self.add(&map, &format!("{map}_ned"), Source::Static, Some(ned));
        }
        for id in &vehicles {
            if let Some(edge) = self.add_vehicle(*id) {
                transforms.entry(*id).or_default().edges.push(edge);
            }
        }
        for sensor in sensors {
            let vehicle = match carrying_vehicle(sensor, &mounts) {
                Ok(vehicle) => vehicle,
                Err(problem) => {
                    self.problems.push(problem);
                    continue;
                }
            };
            let updating_vehicle = vehicle.or_else(|| vehicles.first().copied());
            let placed = self.add_sensor(sensor, vehicle, updating_vehicle.is_some(), sensors);
            if self.edges[placed.edge].source != Source::Static
                && let Some(updates) = updating_vehicle.and_then(|id| transforms.get_mut(&id))
            {
                updates.edges.push(placed.edge);
            }
            if placed_sensors.insert(sensor.seq_id, placed).is_some() {
                self.problems.push(FrameError::DuplicateSensor(sensor.seq_id));
            }
        }
        self.check_cycles();
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        for updates in transforms.values_mut() {
            let edges = updates.edges.iter().map(|e| &self.edges[*e]);
            updates.messages = edges
                .map(|e| Transform::identity().to_stamped(&e.parent, &e.child, Default::default()))
                .collect();
        }
        Ok(FrameTree {
            names: self.names,
            edges: self.edges,
            by_child: self.by_child,
            sensors: placed_sensors,
            transforms,
            vehicles: vehicles.into_iter().collect(),
            mounts: sensors.to_vec(),
        })
    }

    /// Adds the frames of a vehicle and returns the edge of its pose; `None` if another node publishes the pose.
    fn add_vehicle(&mut self, id: u16) -> Option<usize> {
        let names = self.names.clone();
        let [odom, base, imu] =
            [&names.odom, &names.base_link, &names.imu_link].map(|name| names.of_vehicle(id, name));
        let (fixed, moving) = if names.publishes_pose {
            (Source::Static, Source::Vehicle)
        } else {
            (Source::External, Source::External)
        };
        if odom != names.map {
            self.add(&names.map, &odom, fixed, Some(Transform::identity()));
        }
        if names.autopilots.contains(&id) {
            let origin = names.of_vehicle(id, &names.local_origin);
            let pose = names.world.enu_at(Vector::zero());
            self.add(&names.map, &origin, Source::Static, Some(pose));
        }
        let edge = self.add(&odom, &base, moving, None);
        self.add(&base, &imu, Source::Static, Some(Transform::identity()));
        if names.ned_frames {
            self.add(&base, &format!("{base}_frd"), Source::Static, Some(half_turn()));
        }
        names.publishes_pose.then_some(edge)
    }

    fn add_sensor(
        &mut self,
        sensor: &SensorMount,
        vehicle: Option<u16>,
        has_updates: bool,
        sensors: &[SensorMount],
    ) -> PlacedSensor {
        let frames = self.frames_of(sensor, vehicle);
        let (reference, transform) = mount_transform(
            sensor.mount,
            sensor.position_frd,
            sensor.orientation,
            self.names.world,
            self.names.bottom_m,
        );
        // Moving edges are published with pose updates, which need a vehicle.
        let source = if sensor.moving && has_updates { Source::Moving } else { Source::Static };
        let (parent, source, transform) = match reference {
            MountReference::BaseLink(id) => {
                (self.names.of_vehicle(id, &self.names.base_link), source, Some(transform))
            }
            MountReference::Map => (self.names.map.clone(), source, Some(transform)),
            MountReference::MapAtVehicle(_) => {
                (self.names.map.clone(), Source::AtVehicle(transform), None)
            }
            MountReference::SensorLink(seq_id) => {
                let carrier = sensors.iter().find(|s| s.seq_id == seq_id);
                let parent = carrier.map_or_else(String::new, |c| self.frames_of(c, vehicle).link);
                (parent, source, Some(transform))
            }
        };
        let edge = self.add(&parent, &frames.link, source, transform);
        if sensor.optical {
            let optical = Transform::from_attitude(Attitude::<Optical, _>::optical());
            self.add(&frames.link, &frames.optical, Source::Static, Some(optical));
        }
        PlacedSensor { mount: sensor.mount, frames, edge }
    }

    fn frames_of(&self, sensor: &SensorMount, vehicle: Option<u16>) -> SensorFrames {
        let default = |suffix| {
            let name = format!("sensor{}_{suffix}", sensor.seq_id);
            vehicle.map_or(name.clone(), |id| self.names.of_vehicle(id, &name))
        };
        let link = sensor.link.clone().unwrap_or_else(|| default("link"));
        let optical = if sensor.optical {
            sensor.optical_frame.clone().unwrap_or_else(|| default("optical_frame"))
        } else {
            link.clone()
        };
        SensorFrames { link, optical }
    }

    fn add(&mut self, parent: &str, child: &str, source: Source, pose: Option<Transform>) -> usize {
        self.check_name(child);
        let index = self.edges.len();
        let (parent, child) = (parent.to_owned(), child.to_owned());
        if let Some(first) = self.by_child.insert(child.clone(), index) {
            let (first, second) = (self.edges[first].parent.clone(), parent.clone());
            self.problems.push(FrameError::TwoParents { frame: child.clone(), first, second });
        }
        self.edges.push(Edge { parent, child, source, transform: pose });
        index
    }

    fn check_name(&mut self, name: &str) {
        if name.is_empty() || name.starts_with('/') || name.contains(char::is_whitespace) {
            self.problems.push(FrameError::BadName(name.to_owned()));
        }
    }

    fn check_cycles(&mut self) {
        let mut cycles = BTreeSet::new();
        for start in &self.edges {
            let mut path = vec![start.child.as_str()];
            let mut parent = start.parent.as_str();
            while let Some(edge) = self.by_child.get(parent)
                && !path.contains(&parent)
            {
                path.push(parent);
                parent = &self.edges[*edge].parent;
            }
            if let Some(begin) = path.iter().position(|frame| *frame == parent) {
                let mut cycle: Vec<String> = path[begin..].iter().map(|&f| f.to_owned()).collect();
                cycle.sort();
                cycles.insert(cycle);
            }
        }
        self.problems.extend(cycles.into_iter().map(FrameError::Cycle));
    }
}

/// Attitude of FRD in FLU, and of NED in NWU.
fn half_turn() -> Transform {
    Transform::from_parts([0.0; 3], [0.0, 1.0, 0.0, 0.0])
}

/// Follows the carriers of a sensor to a vehicle or the ground (`None`).
fn carrying_vehicle(
    sensor: &SensorMount,
    mounts: &BTreeMap<u16, Mount>,
) -> Result<Option<u16>, FrameError> {
    let mut path = vec![sensor.seq_id];
    let mut mount = sensor.mount;
    while let Mount::Sensor(carrier) = mount {
        if path.contains(&carrier) {
            let path = path.iter().map(|seq_id| format!("sensor{seq_id}"));
            return Err(FrameError::Cycle(path.collect()));
        }
        mount = *mounts
            .get(&carrier)
            .ok_or(FrameError::NoCarrier { seq_id: sensor.seq_id, carrier })?;
        path.push(carrier);
    }
    Ok(mount.vehicle())
}
