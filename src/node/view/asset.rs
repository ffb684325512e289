//! The files that `robot_description` names, for clients that draw it. There is one, and it is in the program: no client makes it
//! open another.
use crate::node::mesh;

/// Opcode of the answer.
const OPCODE: u8 = 4;

/// The answer to a request for a file.
pub(super) fn answer(uri: &str, request: u32) -> Vec<u8> {
    let (failed, why, data) = match uri == mesh::URI {
        true => (0, "", mesh::STL),
        false => (1, "there is no such asset", &[][..]),
    };
    let mut message = vec![OPCODE];
    message.extend(request.to_le_bytes());
    message.push(failed);
    message.extend((why.len() as u32).to_le_bytes());
    message.extend(why.as_bytes());
    message.extend(data);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_mesh_is_given_away() {
        let found = answer(mesh::URI, 7);
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
            let refused = answer(uri, 8);
            assert_eq!(refused[..10], [4, 8, 0, 0, 0, 1, 22, 0, 0, 0], "{uri}");
            assert_eq!(&refused[10..], b"there is no such asset", "{uri}");
        }
    }
}
