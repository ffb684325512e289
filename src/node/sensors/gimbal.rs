//! Direction of a camera on the topics `mount_control/*` beside its image, as in the mavros plugin `mount_control`.
//!
//! A command sets the parameter `sensor<N>.orientation_deg`, so that image, TF and URDF follow. The status is the direction
//! in the images, or the direction that a pod camera reports.
use crate::config::{ParamValue, params::QosGroup};
use crate::frames::{Attitude, Euler, Frd, MountOrientation, SensorMount};
use crate::msgs::geometry_msgs::msg::{Vector3, Vector3Stamped};
use crate::node::{
    assembly::Assembly, cause::Cause, clock::HeaderClock, context::Context, error::NodeError,
    parameter_requests::ParameterRequests, sensor_views::SensorViews, settings::Settings,
    stats::SourceStats,
};
use crate::ros::{Publisher, Qos};
use crate::wire::{SensorKind, SensorRequest};
use crate::{msgs::mavros_msgs::msg::MountControl, time::RosTime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{collections::BTreeMap, sync::Arc};

pub(super) const ROWS: &str = "\
| 9; others with `sensor<N>.gimbal` | | `/rflysim/sensor<N>/mount_control/command` | `mavros_msgs/msg/MountControl` | | | all | \
in: direction of the camera in its mount, degrees, mode 2; mode 1: as in Config.json ([reports.md](reports.md#changes-of-a-running-camera)) |
| | | `/rflysim/sensor<N>/mount_control/status` | `geometry_msgs/msg/Vector3Stamped` | `<prefix>sensor<N>_link` | `latched` | all | \
roll, pitch, yaw of the camera in its mount in rad, FRD, from the first image with that direction on; of a pod the reported direction |
";

/// Opens the topics of pods and of the cameras with `sensor<N>.gimbal`.
pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let settings = context.settings;
    let cameras = settings.sensors.iter().filter(|config| {
        let is_gimbal = settings.params.sensor(config.seq_id).gimbal;
        config.kind == SensorKind::Pod || is_gimbal && config.kind.is_camera()
    });
    let mounts = settings.mounts();
    let mut statuses = BTreeMap::new();
    for config in cameras {
        let seq_id = config.seq_id;
        let Some(mount) = mounts.iter().find(|mount| mount.seq_id == seq_id) else { continue };
        let main = settings.sensor_topic(config);
        let parent = main.rsplit_once('/').map_or("", |(parent, _)| parent);
        let topic = |name: &str| format!("{parent}/mount_control/{name}");
        let status = GimbalStatus {
            publisher: context.publisher(QosGroup::Latched, &topic("status"))?,
            seq_id,
            views: context.views.clone(),
            headers: context.clocks.headers(settings.vehicle_of(config)),
            is_self_reported: AtomicBool::new(false),
        };
        status.publish(euler_angles(&mount.orientation), None);
        statuses.insert(seq_id, status);
        let mut gimbal = Gimbal {
            seq_id,
            neutral: euler_angles(&mount.orientation).map(f64::to_degrees),
            parameter_requests: context.parameter_requests.clone(),
            stats: assembly.add_source_on_demand(format!("gimbal of sensor{seq_id}")),
            is_logged: false,
        };
        let name = topic("command");
        let command = move |message: MountControl| gimbal.command(&message);
        let subscription = context.middleware.subscribe(&name, Qos::SENSOR_DATA, command)?;
        assembly.guards.push(Box::new(subscription));
    }
    if !statuses.is_empty() {
        let statuses = Arc::new(statuses);
        let followed = statuses.clone();
        let follow = move |_: &Settings, mount: &SensorMount, stamp| {
            if let Some(status) = followed.get(&mount.seq_id)
                && !status.is_self_reported.load(Ordering::Relaxed)
            {
                status.publish(euler_angles(&mount.orientation), stamp);
            }
        };
        context.views.follow(Box::new(follow));
        context.views.follow_pods(Box::new(move |pod| publish_reported(&statuses, pod)));
    }
    Ok(())
}

/// Publishes the direction that a pod reports, as a quaternion or as Euler angles in degrees.
fn publish_reported(statuses: &BTreeMap<u16, GimbalStatus>, pod: &SensorRequest) {
    let angles = if pod.eular_or_quat > 0.5 {
        euler_angles(&MountOrientation::Quaternion(pod.quaternion.map(f64::from)))
    } else {
        pod.euler.map(|degrees| f64::from(degrees).to_radians())
    };
    if let Some(status) = statuses.get(&pod.seq_id)
        && angles.iter().all(|angle| angle.is_finite())
    {
        status.is_self_reported.store(true, Ordering::Relaxed);
        status.publish(angles, None);
    }
}

/// Roll, pitch, yaw in rad.
fn euler_angles(orientation: &MountOrientation) -> [f64; 3] {
    match *orientation {
        MountOrientation::Euler(angles) => angles,
        MountOrientation::Quaternion(wxyz) => {
            let attitude = Attitude::<Frd, Frd>::from_wxyz(wxyz);
            let Euler { roll, pitch, yaw } = attitude.unwrap_or_default().euler();
            [roll, pitch, yaw]
        }
    }
}

struct GimbalStatus {
    publisher: Publisher<Vector3Stamped>,
    seq_id: u16,
    views: SensorViews,
    headers: HeaderClock,
    /// Whether the camera reports its direction itself.
    is_self_reported: AtomicBool,
}

impl GimbalStatus {
    /// Publishes a direction; `stamp`: that of the first image with this direction, `None` for the current time.
    fn publish(&self, [x, y, z]: [f64; 3], stamp: Option<RosTime>) {
        let mut message = Vector3Stamped::default();
        message.header.stamp = stamp.unwrap_or_else(|| self.headers.now()).to_msg();
        message.header.frame_id = self.views.link_frame(self.seq_id);
        message.vector = Vector3 { x, y, z };
        // The publisher counts failures.
        let _counted = self.publisher.publish(&message);
    }
}

struct Gimbal {
    seq_id: u16,
    /// Roll, pitch, yaw at the start in degrees: those of Config.json, unless parameters replace them.
    neutral: [f64; 3],
    parameter_requests: ParameterRequests,
    stats: Arc<SourceStats>,
    is_logged: bool,
}

impl Gimbal {
    fn command(&mut self, message: &MountControl) {
        self.stats.lock().received += 1;
        let angles = [message.roll, message.pitch, message.yaw].map(f64::from);
        let direction = match message.mode {
            MountControl::MAV_MOUNT_MODE_NEUTRAL => Ok(self.neutral),
            MountControl::MAV_MOUNT_MODE_MAVLINK_TARGETING
                if angles.iter().all(|angle| angle.abs() <= 360.0) =>
            {
                Ok(angles)
            }
            MountControl::MAV_MOUNT_MODE_MAVLINK_TARGETING => Err((
                Cause::Angle,
                format!("roll, pitch and yaw must be -360 to 360 degrees, are {angles:?}"),
            )),
            mode => Err((
                Cause::Mode,
                format!(
                    "mode must be 2 (roll, pitch, yaw in degrees) or 1 (as in Config.json), is {mode}"
                ),
            )),
        };
        match direction {
            Ok(angles) => {
                self.stats.lock().frames += 1;
                let value = ParamValue::List(angles.map(ParamValue::Float).to_vec());
                let name = format!("sensor{}.orientation_deg", self.seq_id);
                self.parameter_requests.request(self.seq_id, name, value);
            }
            Err((cause, text)) => {
                self.stats.lock().count(cause);
                if !std::mem::replace(&mut self.is_logged, true) {
                    tracing::warn!(
                        "sensor{}/mount_control/command: {text}; logged once",
                        self.seq_id
                    );
                }
            }
        }
    }
}
