//! The topics of reports. A topic whose message type the workspace lacks does not exist.
use crate::config::params::QosGroup;
use crate::msgs::rfly_bridge_msgs::msg::{CameraReport, Collision, VehicleReport};
use crate::msgs::vision_msgs::msg::Detection3DArray;
#[cfg(has_visualization_msgs)]
use crate::msgs::visualization_msgs::msg::MarkerArray;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::settings::topic_below;
use crate::node::subsystem::TopicPage;
#[cfg(has_visualization_msgs)]
use crate::reports::markers;
use crate::reports::{DescribedEntity, Descriptions, ReportedEntity};
#[cfg(any(has_visualization_msgs, has_rfly_bridge_msgs))]
use crate::ros::Publisher;
use crate::ros::RosError;
use std::collections::BTreeMap;

/// Names below the prefix.
const VEHICLE_REPORTS: &str = "scene/vehicle_reports";
const CAMERAS: &str = "scene/cameras";
const VEHICLES: &str = "scene/vehicles";
const OBJECTS: &str = "scene/objects";
const MARKERS: &str = "scene/markers";
/// Below the prefix of a vehicle.
pub(super) const COLLISIONS: &str = "collisions";

macro_rules! own_type {
    ($name:ident, $message:ident, $doc:literal) => {
        #[doc = $doc]
        pub(super) struct $name {
            #[cfg(has_rfly_bridge_msgs)]
            publisher: Publisher<$message>,
        }

        #[cfg(has_rfly_bridge_msgs)]
        impl $name {
            pub(super) fn open(
                context: &Context<'_>,
                group: QosGroup,
                name: &str,
            ) -> Result<Self, NodeError> {
                Ok(Self { publisher: context.publisher(group, name)? })
            }

            pub(super) fn wanted(&self) -> bool {
                self.publisher.subscribers() > 0
            }

            pub(super) fn publish(&self, message: &$message) -> Result<(), RosError> {
                self.publisher.publish(message).map(drop)
            }
        }

        #[cfg(not(has_rfly_bridge_msgs))]
        impl $name {
            pub(super) fn open(_: &Context<'_>, _: QosGroup, _: &str) -> Result<Self, NodeError> {
                Ok(Self {})
            }

            pub(super) fn wanted(&self) -> bool {
                false
            }

            pub(super) fn publish(&self, _: &$message) -> Result<(), RosError> {
                Ok(())
            }
        }
    };
}

own_type!(VehicleReports, VehicleReport, "`scene/vehicle_reports`.");
own_type!(Cameras, CameraReport, "`scene/cameras`.");
own_type!(Collisions, Collision, "`collisions` of a vehicle.");

/// `scene/markers`.
pub(super) struct Markers {
    #[cfg(has_visualization_msgs)]
    publisher: Publisher<MarkerArray>,
}

#[cfg(has_visualization_msgs)]
impl Markers {
    fn open(context: &Context<'_>, name: &str) -> Result<Self, NodeError> {
        Ok(Self { publisher: context.publisher(QosGroup::Reports, name)? })
    }

    fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    fn publish(
        &self,
        reported: &Descriptions,
        gone: &[ReportedEntity],
        map: &str,
    ) -> Result<(), RosError> {
        let message = markers(reported.entities.iter(), gone, map);
        self.publisher.publish(&message).map(drop)
    }
}

#[cfg(not(has_visualization_msgs))]
impl Markers {
    fn open(_: &Context<'_>, _: &str) -> Result<Self, NodeError> {
        Ok(Self {})
    }

    fn wanted(&self) -> bool {
        false
    }

    fn publish(&self, _: &Descriptions, _: &[ReportedEntity], _: &str) -> Result<(), RosError> {
        Ok(())
    }
}

/// All topics except those of single vehicles.
pub(super) struct SceneTopics {
    pub(super) vehicle_reports: VehicleReports,
    pub(super) cameras: Cameras,
    vehicles: Publisher<Detection3DArray>,
    objects: Publisher<Detection3DArray>,
    markers: Markers,
    map: String,
}

impl SceneTopics {
    pub(super) fn open(context: &Context<'_>) -> Result<Self, NodeError> {
        let prefix = &context.settings.params.topic_prefix;
        let name = |name| topic_below(prefix, name);
        let group = QosGroup::Reports;
        Ok(Self {
            vehicle_reports: VehicleReports::open(context, group, &name(VEHICLE_REPORTS))?,
            cameras: Cameras::open(context, group, &name(CAMERAS))?,
            vehicles: context.publisher(group, &name(VEHICLES))?,
            objects: context.publisher(group, &name(OBJECTS))?,
            markers: Markers::open(context, &name(MARKERS))?,
            map: context.tree.names().map.clone(),
        })
    }

    /// Whether descriptions of vehicles are read.
    pub(super) fn wants_vehicles(&self) -> bool {
        self.vehicles.subscribers() > 0 || self.markers.wanted()
    }

    /// Whether descriptions of objects are read.
    pub(super) fn wants_objects(&self) -> bool {
        self.objects.subscribers() > 0 || self.markers.wanted()
    }

    /// Publishes the boxes of all described entities, and removes the markers of `gone` ones.
    pub(super) fn publish(
        &self,
        reported: &Descriptions,
        gone: &[ReportedEntity],
    ) -> Result<(), RosError> {
        type Entities = BTreeMap<ReportedEntity, DescribedEntity>;
        let of = |known: &Entities, vehicles: bool| {
            let kind =
                |entity: &ReportedEntity| matches!(entity, ReportedEntity::Vehicle(_)) == vehicles;
            let described = known.iter().filter(|(entity, _)| kind(entity));
            crate::reports::detections(described, &self.map)
        };
        for (publisher, vehicles) in [(&self.vehicles, true), (&self.objects, false)] {
            if publisher.subscribers() > 0 {
                publisher.publish(&of(&reported.entities, vehicles))?;
            }
        }
        if self.markers.wanted() {
            self.markers.publish(reported, gone, &self.map)?;
        }
        Ok(())
    }
}

/// Documents the topics.
pub(super) fn document(page: &mut TopicPage) {
    let mut row = |names: &[&str], interface: &str, doc: &str| {
        let names: Vec<_> = names.iter().map(|name| format!("/rflysim/{name}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let group = match names[..] {
            [name] if name.ends_with(COLLISIONS) => QosGroup::Latched,
            _ => QosGroup::Reports,
        };
        page.topic(&names, interface, &[group], doc);
    };
    row(
        &[COLLISIONS],
        "rfly_bridge_msgs/msg/Collision",
        "the collision of the vehicle, from its first report until the vehicle is free or the simulation restarts ([reports.md](reports.md))",
    );
    row(
        &[VEHICLE_REPORTS],
        "rfly_bridge_msgs/msg/VehicleReport",
        "each report of a vehicle in `map`: pose, velocity, motors, distances in six directions",
    );
    row(
        &[CAMERAS],
        "rfly_bridge_msgs/msg/CameraReport",
        "each description of a camera of Config.json: size, field of view, pose in `map`",
    );
    row(
        &[VEHICLES, OBJECTS],
        "vision_msgs/msg/Detection3DArray",
        "boxes of the described vehicles and objects in `map`; `id` is the CopterID or the name, the hypothesis has the reference point. At most 10 Hz",
    );
    row(
        &[MARKERS],
        "visualization_msgs/msg/MarkerArray",
        "the same with names, for RViz and Foxglove",
    );
}
