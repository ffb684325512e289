//! The frames of vehicles and sensors: `/tf_static`, and a URDF of each vehicle.
mod urdf;

pub use urdf::{UrdfForm, robot_description};

use crate::frames::{FrameTree, MissingPath, SensorMount};
use crate::node::section::{Finding, Level, Section, value};
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::{
    assembly::Assembly, context::Context, error::NodeError, settings::Settings, tasks,
    tf::StaticTf, threads::PROMPT,
};
use crate::{config::params::QosGroup, msgs::std_msgs, ros::Publisher, time::RosTime};

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    if let Some(static_tf) = &context.static_tf {
        omit_fixed_frames(static_tf, context.settings, &context.tree);
        static_tf.publish()?;
        let runtime = assembly.threads.runtime(PROMPT)?;
        tasks::start(&runtime, static_tf.clone());
    }
    let mut descriptions: Vec<RobotDescription> = Vec::new();
    if context.settings.params.frames.robot_description {
        for vehicle in context.settings.vehicles() {
            let topic = context.settings.vehicle_topic(vehicle, "robot_description");
            let publisher = context.publisher(QosGroup::RobotDescription, &topic)?;
            let description = RobotDescription { vehicle, publisher };
            description.publish(context.settings)?;
            descriptions.push(description);
        }
    }
    // Moves the frames of a sensor; `stamp` is the stamp of the first image from the new mount.
    let static_tf = context.static_tf.clone();
    let follow = move |now: &Settings, mount: &SensorMount, stamp: Option<RosTime>| {
        if let Some(tf) = &static_tf {
            let mut next = tf.tree_copy();
            if !next.has_mount(mount) && next.replace_mount(mount).is_ok() {
                omit_fixed_frames(tf, now, &next);
            }
        }
        let frames = static_tf.iter().map(|tf| tf.remount(mount, stamp));
        let vehicles = descriptions.iter().map(|description| description.publish(now));
        for error in frames.chain(vehicles).filter_map(Result::err) {
            tracing::warn!(%error, "cannot publish the new pose of a sensor");
        }
    };
    context.views.follow(Box::new(follow));

    let mut published = assembly.frame_ids.clone();
    published.sort();
    published.dedup();
    let missing = context.tree.check(&published);
    for path in &missing {
        tracing::error!("{path}");
    }
    assembly.add_section("frames", FramePaths(missing));
    Ok(())
}

/// Omits the frames that robot_state_publisher publishes.
fn omit_fixed_frames(static_tf: &StaticTf, settings: &Settings, tree: &FrameTree) {
    if !settings.params.frames.publish_static {
        let vehicles = settings.vehicles().into_iter();
        static_tf.omit(vehicles.flat_map(|id| urdf::fixed_frames(settings, tree, id)));
    }
}

fn topics(page: &mut TopicPage) {
    let groups = [QosGroup::Tf, QosGroup::TfStatic];
    let doc = "all frames that messages name ([frames.md](frames.md))";
    page.topic(&["/tf", "/tf_static"], "tf2_msgs/msg/TFMessage", &groups, doc);
    let (name, groups) = ("/rflysim/robot_description", [QosGroup::RobotDescription]);
    let doc = "the vehicle with its sensors as URDF, latched";
    page.topic(&[name], "std_msgs/msg/String", &groups, doc);
}

/// The latched URDF of a vehicle.
struct RobotDescription {
    vehicle: u16,
    publisher: Publisher<std_msgs::msg::String>,
}

impl RobotDescription {
    fn publish(&self, settings: &Settings) -> Result<(), NodeError> {
        let data = robot_description(settings, self.vehicle, UrdfForm::Urdf)?;
        self.publisher.publish(&std_msgs::msg::String { data })?;
        Ok(())
    }
}

/// Status of the frame ids that have no path to the map.
struct FramePaths(Vec<MissingPath>);

impl Section for FramePaths {
    fn check(&mut self) -> Finding {
        let missing = self.0.iter();
        let (level, message) = match missing.len() {
            0 => (Level::Ok, "every frame has a path to map".to_owned()),
            n => (Level::Error, format!("{n} frames without a path to map")),
        };
        Finding { level, message, values: missing.map(|path| value("missing", path)).collect() }
    }
}
