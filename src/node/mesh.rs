//! The mesh of the vehicle: `robot_description` names it, `view` serves it, `scripts/mesh.py` generates it.
use super::settings::Settings;
use std::path::Path;

/// Its URI in `robot_description`.
pub(super) const URI: &str = "package://rfly_bridge/meshes/quadrotor.stl";
/// STL, in m, x forward, z up.
pub(super) const STL: &[u8] = include_bytes!("../../meshes/quadrotor.stl");
/// Its path below a prefix of a ROS 2 workspace.
const INSTALLED: &str = "share/rfly_bridge/meshes/quadrotor.stl";

/// Whether the clients of `view`, or RViz in the bridge's workspace, can read the mesh.
pub(super) fn is_served(settings: &Settings) -> bool {
    settings.params.view.port > 0 || is_installed(std::env::var("AMENT_PREFIX_PATH").ok())
}

fn is_installed(prefixes: Option<String>) -> bool {
    let prefixes = prefixes.unwrap_or_default();
    let mut prefixes = prefixes.split(':').filter(|prefix| !prefix.is_empty());
    prefixes.any(|prefix| Path::new(prefix).join(INSTALLED).is_file())
}

#[cfg(test)]
mod tests {
    use crate::node::mesh::{INSTALLED, STL, is_installed};
    use std::path::Path;

    #[test]
    fn a_workspace_has_the_mesh_if_the_file_is_there() {
        let prefix = std::env::temp_dir().join(format!("rfly_mesh_{}", std::process::id()));
        let file = prefix.join(INSTALLED);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        let path = |prefix: &Path| Some(format!("/nowhere::{}", prefix.display()));
        assert!(!is_installed(None) && !is_installed(path(&prefix)));
        std::fs::write(&file, STL).expect("a file");
        assert!(is_installed(path(&prefix)));
        std::fs::remove_dir_all(&prefix).expect("removed");
    }
}
