//! ROS names: validation, expansion, remapping.
use super::RosError;
use crate::config::names;

/// Expands and remaps the names that one node uses.
#[derive(Clone, Debug)]
pub struct Resolver {
    node: String,
    namespace: String,
    remaps: Vec<(String, String)>,
}

impl Resolver {
    /// `remaps` are `from:=to` rules; both sides may be relative. `__node` and `__ns` rename the node itself.
    pub fn new(name: &str, namespace: &str, remaps: &[(String, String)]) -> Result<Self, RosError> {
        let rule = |from: &str| remaps.iter().find(|(f, _)| f == from).map(|(_, to)| to.as_str());
        let name = rule("__node").unwrap_or(name);
        let namespace = rule("__ns").unwrap_or(namespace);
        let namespace = format!("/{}", namespace.trim_matches('/'));
        if namespace != "/" {
            check_absolute(&namespace)?;
        }
        names::check_token(name).map_err(|reason| invalid(name, reason))?;
        let mut resolver = Self { node: join(&namespace, name), namespace, remaps: Vec::new() };
        resolver.remaps = remaps
            .iter()
            .filter(|(from, _)| !from.starts_with("__"))
            .map(|(from, to)| Ok((resolver.expand(from)?, resolver.expand(to)?)))
            .collect::<Result<_, RosError>>()?;
        Ok(resolver)
    }

    /// Full name of the node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Namespace of the node, `/` for none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Name of the node without namespace.
    pub fn base_name(&self) -> &str {
        self.node.rsplit('/').next().unwrap_or_default()
    }

    /// `a` becomes `/ns/a`, `~/a` becomes `/ns/node/a`, `/a` stays; then the first rule for this name is applied.
    pub fn resolve(&self, name: &str) -> Result<String, RosError> {
        let full = self.expand(name)?;
        Ok(self.remaps.iter().find(|(from, _)| *from == full).map_or(full, |(_, to)| to.clone()))
    }

    fn expand(&self, name: &str) -> Result<String, RosError> {
        let full = if let Some(rest) = name.strip_prefix('~') {
            format!(
                "{}{}{}",
                self.node,
                if rest.is_empty() || rest.starts_with('/') { "" } else { "/" },
                rest
            )
        } else if name.starts_with('/') {
            name.to_owned()
        } else {
            join(&self.namespace, name)
        };
        check_absolute(&full)?;
        Ok(full)
    }
}

fn join(namespace: &str, name: &str) -> String {
    if namespace == "/" { format!("/{name}") } else { format!("{namespace}/{name}") }
}

fn check_absolute(name: &str) -> Result<(), RosError> {
    names::check_topic(name).map_err(|reason| invalid(name, reason))
}

fn invalid(name: &str, reason: String) -> RosError {
    RosError::Name { name: name.to_owned(), reason }
}

/// Topic name on DDS: `/a/b` is `rt/a/b`.
pub fn dds_topic(topic: &str) -> String {
    format!("rt{topic}")
}

/// Topic of a service's requests on DDS: `/a/b` is `rq/a/bRequest`.
pub fn dds_request_topic(service: &str) -> String {
    format!("rq{service}Request")
}

/// Topic of a service's responses on DDS: `/a/b` is `rr/a/bReply`.
pub fn dds_reply_topic(service: &str) -> String {
    format!("rr{service}Reply")
}

/// Type name on DDS: `sensor_msgs/msg/Image` is `sensor_msgs::msg::dds_::Image_`.
pub fn dds_type(type_name: &str) -> String {
    let mut parts: Vec<_> = type_name.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    format!("{}::dds_::{name}_", parts.join("::"))
}

/// Inverse of [`dds_topic`]; `None` if it is not a ROS topic.
pub fn ros_topic(dds_topic: &str) -> Option<&str> {
    dds_topic.strip_prefix("rt").filter(|topic| topic.starts_with('/'))
}

/// The service of a DDS request topic; `None` for other topics.
pub fn ros_service(dds_topic: &str) -> Option<&str> {
    dds_topic.strip_prefix("rq").filter(|topic| topic.starts_with('/'))?.strip_suffix("Request")
}

/// The service of a DDS response topic; `None` for other topics.
pub fn ros_reply(dds_topic: &str) -> Option<&str> {
    dds_topic.strip_prefix("rr").filter(|topic| topic.starts_with('/'))?.strip_suffix("Reply")
}

/// Inverse of [`dds_type`]; `None` if it is not a ROS type.
pub fn ros_type(dds_type: &str) -> Option<String> {
    let (package, name) = dds_type.strip_suffix('_')?.split_once("::dds_::")?;
    Some(format!("{}/{name}", package.replace("::", "/")))
}
