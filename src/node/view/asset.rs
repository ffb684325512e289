//! Serves the mesh that `robot_description` names. It is compiled into the program, and clients get no other file.
use crate::node::mesh;

/// Opcode of `Fetch Asset Response`.
const OPCODE: u8 = 4;

/// `Fetch Asset Response`.
pub(super) fn response(uri: &str, request: u32) -> Vec<u8> {
    let (status, why, data) =
        if uri == mesh::URI { (0, "", mesh::STL) } else { (1, "there is no such asset", &[][..]) };
    let mut message = vec![OPCODE];
    message.extend(request.to_le_bytes());
    message.push(status);
    message.extend((why.len() as u32).to_le_bytes());
    message.extend(why.as_bytes());
    message.extend(data);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mesh_is_served_and_no_other_file() {
        let found = response(mesh::URI, 7);
        assert_eq!(found[..10], [4, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&found[10..], mesh::STL);
        for uri in [
            "",
            "package://rfly_bridge/meshes/",
            "package://rfly_bridge/meshes/../meshes/quadrotor.stl",
            "package://rfly_bridge/meshes/../Cargo.toml",
            "package://rfly_bridge/config/Config.json",
            "file:///etc/passwd",
            "/etc/passwd",
            "http://127.0.0.1/meshes/quadrotor.stl",
        ] {
            let refused = response(uri, 8);
            assert_eq!(refused[..10], [4, 8, 0, 0, 0, 1, 22, 0, 0, 0], "{uri}");
            assert_eq!(&refused[10..], b"there is no such asset", "{uri}");
        }
    }
}
