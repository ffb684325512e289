use super::{
    Edge, FrameError, FrameNames, FrameTree, Outbox, PlacedSensor, SensorFrames, SensorMount,
    Source,
};
use crate::frames::mount::{Mount, MountReference, mount_transform};
use crate::frames::{Attitude, Ned, Optical, Transform, Vector};
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
        let carriers: BTreeMap<u16, Mount> = sensors.iter().map(|s| (s.seq_id, s.mount)).collect();
        let vehicles: BTreeSet<u16> = vehicles
            .iter()
            .copied()
            .chain(sensors.iter().filter_map(|s| vehicle_of(s.mount)))
            .collect();
        let mut outboxes: BTreeMap<u16, Outbox> =
            vehicles.iter().map(|id| (*id, Outbox::default())).collect();
        let mut placed = BTreeMap::new();

        self.check_name(&self.names.map.clone());
        if self.names.ned_frames {
            let ned =
                self.names.world.pose(Vector::<Ned>::zero(), Attitude::identity()) * half_turn();
            self.add(
                self.names.map.clone(),
                self.names.map.clone() + "_ned",
                Source::Static,
                Some(ned),
            );
        }
        for id in &vehicles {
            if let Some(edge) = self.add_vehicle(*id) {
                outboxes.entry(*id).or_default().edges.push(edge);
            }
        }
        for sensor in sensors {
            let vehicle = match carrying_vehicle(sensor, &carriers) {
                Ok(vehicle) => vehicle,
                Err(problem) => {
                    self.problems.push(problem);
                    continue;
                }
            };
            let home = vehicle.or_else(|| vehicles.first().copied());
            let place = self.add_sensor(sensor, vehicle, home.is_some(), sensors);
            if self.edges[place.edge].source != Source::Static
                && let Some(outbox) = home.and_then(|id| outboxes.get_mut(&id))
            {
                outbox.edges.push(place.edge);
            }
            if placed.insert(sensor.seq_id, place).is_some() {
                self.problems.push(FrameError::DuplicateSensor(sensor.seq_id));
            }
        }
        self.find_cycles();
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        for outbox in outboxes.values_mut() {
            let messages = outbox.edges.iter().map(|e| &self.edges[*e]);
            outbox.messages = messages
                .map(|e| Transform::identity().to_stamped(&e.parent, &e.child, Default::default()))
                .collect();
        }
        Ok(FrameTree {
            names: self.names,
            edges: self.edges,
            by_child: self.by_child,
            sensors: placed,
            outboxes,
            vehicles: vehicles.into_iter().collect(),
            mounts: sensors.to_vec(),
        })
    }

    /// Adds the frames of a vehicle and returns the edge of its pose.
    fn add_vehicle(&mut self, id: u16) -> Option<usize> {
        let names = self.names.clone();
        let [odom, base, imu] =
            [&names.odom, &names.base_link, &names.imu_link].map(|name| names.of_vehicle(id, name));
        let (fixed, moving) = match names.truth {
            true => (Source::Static, Source::Vehicle),
            false => (Source::External, Source::External),
        };
        if odom != names.map {
            self.add(names.map.clone(), odom.clone(), fixed, Some(Transform::identity()));
        }
        if names.autopilots.contains(&id) {
            self.add(
                names.map.clone(),
                names.of_vehicle(id, &names.local_origin),
                Source::Static,
                Some(names.world.enu_at(Vector::zero())),
            );
        }
        let edge = self.add(odom, base.clone(), moving, None);
        self.add(base.clone(), imu, Source::Static, Some(Transform::identity()));
        if names.ned_frames {
            self.add(base.clone(), base + "_frd", Source::Static, Some(half_turn()));
        }
        names.truth.then_some(edge)
    }

    fn add_sensor(
        &mut self,
        sensor: &SensorMount,
        vehicle: Option<u16>,
        has_vehicle: bool,
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
        // Without a vehicle there are no pose updates, which moving edges are sent with.
        let source = if sensor.moving && has_vehicle { Source::Moving } else { Source::Static };
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
        let edge = self.add(parent, frames.link.clone(), source, transform);
        if sensor.optical {
            let optical = Transform::from_attitude(Attitude::<Optical, _>::optical());
            self.add(frames.link.clone(), frames.optical.clone(), Source::Static, Some(optical));
        }
        PlacedSensor { mount: sensor.mount, frames, edge }
    }

    fn frames_of(&self, sensor: &SensorMount, vehicle: Option<u16>) -> SensorFrames {
        let default = |suffix| {
            let name = format!("sensor{}_{suffix}", sensor.seq_id);
            vehicle.map_or(name.clone(), |id| self.names.of_vehicle(id, &name))
        };
        let link = sensor.link.clone().unwrap_or_else(|| default("link"));
        let optical = match sensor.optical {
            true => sensor.optical_frame.clone().unwrap_or_else(|| default("optical_frame")),
            false => link.clone(),
        };
        SensorFrames { link, optical }
    }

    fn add(
        &mut self,
        parent: String,
        child: String,
        source: Source,
        transform: Option<Transform>,
    ) -> usize {
        self.check_name(&child);
        let index = self.edges.len();
        if let Some(first) = self.by_child.insert(child.clone(), index) {
            let first = self.edges[first].parent.clone();
            self.problems.push(FrameError::TwoParents {
                frame: child.clone(),
                first,
                second: parent.clone(),
            });
        }
        self.edges.push(Edge { parent, child, source, transform });
        index
    }

    fn check_name(&mut self, name: &str) {
        if name.is_empty() || name.starts_with('/') || name.contains(char::is_whitespace) {
            self.problems.push(FrameError::BadName(name.to_owned()));
        }
    }

    fn find_cycles(&mut self) {
        let mut known = BTreeSet::new();
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
                let mut circle: Vec<String> = path[begin..].iter().map(|&f| f.to_owned()).collect();
                circle.sort();
                known.insert(circle);
            }
        }
        self.problems.extend(known.into_iter().map(FrameError::Cycle));
    }
}

/// Attitude of FRD in FLU, and of NED in NWU.
fn half_turn() -> Transform {
    Transform::from_parts([0.0; 3], [0.0, 1.0, 0.0, 0.0])
}

fn vehicle_of(mount: Mount) -> Option<u16> {
    match mount {
        Mount::VehicleCentre(id) | Mount::VehicleBottom(id) | Mount::VehicleLevel(id) => Some(id),
        Mount::Ground(_) | Mount::Sensor(_) => None,
    }
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
            return Err(FrameError::Cycle(
                path.iter().map(|seq_id| format!("sensor{seq_id}")).collect(),
            ));
        }
        mount = *mounts
            .get(&carrier)
            .ok_or(FrameError::NoCarrier { seq_id: sensor.seq_id, carrier })?;
        path.push(carrier);
    }
    Ok(vehicle_of(mount))
}
