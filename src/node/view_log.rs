//! Logs views that the renderer describes, but the bridge has not requested.
use crate::config::params::Foreign;
use crate::frames::{Attitude, Flu, Transform};

/// Logs a changed view: field of view in degrees and pose; returns whether it is the requested one.
pub(super) fn log_described_view(
    seq_id: u16,
    (fov, pose): (Option<f32>, Option<Transform>),
    (requested_fov, requested_pose): (f32, Transform),
    foreign: Foreign,
) -> bool {
    if fov.is_none_or(|fov| fov == requested_fov) && pose.is_none_or(|pose| pose == requested_pose)
    {
        tracing::info!("sensor{seq_id} shows the requested view again");
        return true;
    }
    let fov = fov.map(|fov| format!("a field of view of {fov} degrees, requested {requested_fov}"));
    let pose = pose.map(|pose| {
        let (is, was) = (pose_text(&pose), pose_text(&requested_pose));
        format!("{is} in its mount (FLU), requested {was}")
    });
    let what: Vec<_> = fov.into_iter().chain(pose).collect();
    let consequence = match foreign {
        Foreign::Follow | Foreign::Yield => {
            "camera_info and TF follow; with request.foreign:=restore the bridge requests its own view again"
        }
        Foreign::Restore => "the bridge requests its own view again",
    };
    tracing::warn!(
        "sensor{seq_id} shows {}: another program has requested SeqID {seq_id} as well. {consequence}",
        what.join("; ")
    );
    false
}

/// Logs that a camera is not at the requested pose.
pub(super) fn log_misread_pose(seq_id: u16, pose: &Transform, requested: &Transform) {
    tracing::warn!(
        "the renderer describes sensor{seq_id} at {} in its mount (FLU), requested {}: it interprets the mount differently, or \
        another program has requested SeqID {seq_id} as well. TF keeps the requested pose (docs/real.md)",
        pose_text(pose),
        pose_text(requested)
    );
}

/// A pose as text: m, degrees.
fn pose_text(pose: &Transform) -> String {
    let [x, y, z] = pose.translation();
    let attitude = Attitude::<Flu, Flu>::from_wxyz(pose.rotation()).unwrap_or_default();
    let [roll, pitch, yaw] = attitude.euler().to_degrees();
    format!("[{x:.2}, {y:.2}, {z:.2}] m, [{roll:.1}, {pitch:.1}, {yaw:.1}] degrees")
}
