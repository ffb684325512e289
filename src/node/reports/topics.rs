//! The topics of reports. A topic does not exist if the workspace lacks its message type.
use crate::msgs::rfly_bridge_msgs::msg::{CameraReport, Collision, VehicleReport};
#[cfg(has_visualization_msgs)]
use crate::msgs::visualization_msgs::msg::MarkerArray;
use crate::node::{
    context::Context, error::NodeError, settings::topic_below, subsystem::TopicPage,
};
#[cfg(has_visualization_msgs)]
use crate::reports::markers;
use crate::reports::{Descriptions, ReportedEntity, detections};
#[cfg(any(has_visualization_msgs, has_rfly_bridge_msgs))]
use crate::ros::Publisher;
use crate::{config::params::QosGroup, msgs::vision_msgs::msg::Detection3DArray, ros::RosError};

/// Names below the prefix.
const VEHICLE_REPORTS: &str = "scene/vehicle_reports";
const CAMERAS: &str = "scene/cameras";
const VEHICLES: &str = "scene/vehicles";
const OBJECTS: &str = "scene/objects";
const MARKERS: &str = "scene/markers";
/// Name below the prefix of a vehicle.
pub(super) const COLLISIONS: &str = "collisions";

/// Defines a publisher that does nothing if its message type was not built in.
macro_rules! optional_publisher {
    ($feature:meta, $name:ident, $message:ident, $doc:literal) => {
        #[doc = $doc]
        pub(super) struct $name {
            #[cfg($feature)]
            publisher: Publisher<$message>,
        }

        #[cfg($feature)]
        impl $name {
            pub(super) fn open(
                context: &Context<'_>,
                group: QosGroup,
                name: &str,
            ) -> Result<Self, NodeError> {
                Ok(Self { publisher: context.publisher(group, name)? })
            }

            pub(super) fn has_subscribers(&self) -> bool {
                self.publisher.subscribers() > 0
            }

            pub(super) fn publish(&self, message: &$message) -> Result<(), RosError> {
                self.publisher.publish(message).map(drop)
            }
        }

        #[cfg(not($feature))]
        impl $name {
            pub(super) fn open(_: &Context<'_>, _: QosGroup, _: &str) -> Result<Self, NodeError> {
                Ok(Self {})
            }

            pub(super) fn has_subscribers(&self) -> bool {
                false
            }

            pub(super) fn publish<M>(&self, _: &M) -> Result<(), RosError> {
                Ok(())
            }
        }
    };
}

optional_publisher!(
    has_rfly_bridge_msgs,
    VehicleReports,
    VehicleReport,
    "`scene/vehicle_reports`."
);
optional_publisher!(has_rfly_bridge_msgs, Cameras, CameraReport, "`scene/cameras`.");
optional_publisher!(has_rfly_bridge_msgs, Collisions, Collision, "`collisions` of a vehicle.");
optional_publisher!(has_visualization_msgs, Markers, MarkerArray, "`scene/markers`.");

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
            markers: Markers::open(context, group, &name(MARKERS))?,
            map: context.tree.names().map.clone(),
        })
    }

    pub(super) fn wants_vehicles(&self) -> bool {
        self.vehicles.subscribers() > 0 || self.markers.has_subscribers()
    }

    pub(super) fn wants_objects(&self) -> bool {
        self.objects.subscribers() > 0 || self.markers.has_subscribers()
    }

    /// Publishes the boxes of all described entities, and deletes the markers of the `removed` ones.
    #[cfg_attr(not(has_visualization_msgs), expect(unused_variables, reason = "no markers"))]
    pub(super) fn publish(
        &self,
        reported: &Descriptions,
        removed: &[ReportedEntity],
    ) -> Result<(), RosError> {
        for (publisher, vehicles) in [(&self.vehicles, true), (&self.objects, false)] {
            if publisher.subscribers() > 0 {
                let described = reported
                    .entities
                    .iter()
                    .filter(|(entity, _)| matches!(entity, ReportedEntity::Vehicle(_)) == vehicles);
                publisher.publish(&detections(described, &self.map))?;
            }
        }
        #[cfg(has_visualization_msgs)]
        if self.markers.has_subscribers() {
            self.markers.publish(&markers(reported.entities.iter(), removed, &self.map))?;
        }
        Ok(())
    }
}

pub(super) fn document(page: &mut TopicPage) {
    let mut row = |names: &[&str], interface: &str, doc: &str| {
        let group = if names == [COLLISIONS] { QosGroup::Latched } else { QosGroup::Reports };
        let names: Vec<_> = names.iter().map(|name| format!("/rflysim/{name}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        page.topic(&names, interface, &[group], doc);
    };
    let doc = "the collision of the vehicle, from its first report until the vehicle is free or the simulation restarts ([reports.md](reports.md))";
    row(&[COLLISIONS], "rfly_bridge_msgs/msg/Collision", doc);
    let doc =
        "each report of a vehicle in `map`: pose, velocity, motors, distances in six directions";
    row(&[VEHICLE_REPORTS], "rfly_bridge_msgs/msg/VehicleReport", doc);
    let doc = "each description of a camera of Config.json: size, field of view, pose in `map`";
    row(&[CAMERAS], "rfly_bridge_msgs/msg/CameraReport", doc);
    let doc = "boxes of the described vehicles and objects in `map`; `id` is the CopterID or the name, the hypothesis has the reference point. At most 10 Hz";
    row(&[VEHICLES, OBJECTS], "vision_msgs/msg/Detection3DArray", doc);
    let doc = "the same with names, for RViz and Foxglove";
    row(&[MARKERS], "visualization_msgs/msg/MarkerArray", doc);
}
