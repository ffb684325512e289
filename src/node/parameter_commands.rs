//! The command `param`: as `ros2 param`, for every node with parameter services.
use super::parameter_values::{from_msg, to_msg};
use super::service_call::{CommandError, no_service, poll_until, wait_for_response};
use crate::config::yaml::{self, YamlKind};
use crate::config::{ParamValue, did_you_mean, params::ParamType};
use crate::msgs::rcl_interfaces::msg::{Parameter, ParameterDescriptor};
use crate::msgs::rcl_interfaces::srv::*;
use crate::{msgs::Service, ros::Middleware};
use std::{fmt::Write as _, sync::Arc, time::Duration};
use tokio::sync::oneshot;

/// The parameter services of one node.
pub struct ParameterNode<'a> {
    middleware: &'a Middleware,
    name: String,
    limit: Duration,
}

/// Suffix of the service by which nodes with parameters are found.
const LIST: &str = "/list_parameters";

/// Finds all nodes with parameters. `limit` applies to the search, and to each later search and response.
pub async fn parameter_nodes(
    middleware: &Middleware,
    limit: Duration,
) -> Result<Vec<ParameterNode<'_>>, CommandError> {
    let mut last = Vec::new();
    let find = || {
        let servers = middleware.servers().into_iter();
        let servers = servers.filter(|server| server.type_name == ListParameters::TYPE);
        let names: Vec<_> =
            servers.filter_map(|s| s.name.strip_suffix(LIST).map(str::to_owned)).collect();
        let is_settled = !names.is_empty() && names == last;
        last = names;
        is_settled.then(|| last.clone())
    };
    let names = poll_until(limit, find).await;
    let none = || format!("no node with parameters within {} s", limit.as_secs_f64());
    let names = names.ok_or_else(|| CommandError::Graph(none()))?;
    Ok(names.into_iter().map(|name| ParameterNode { middleware, name, limit }).collect())
}

impl<'a> ParameterNode<'a> {
    /// The node of this name.
    pub fn new(
        middleware: &'a Middleware,
        name: &str,
        limit: Duration,
    ) -> Result<Self, CommandError> {
        let absolute = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
        let name = middleware.resolve(&absolute)?;
        Ok(Self { middleware, name, limit })
    }

    /// Full name of the node.
    pub fn name(&self) -> &str {
        &self.name
    }

    async fn call<S: Service>(
        &self,
        service: &str,
        request: S::Request,
    ) -> Result<S::Response, CommandError> {
        let client = Arc::new(self.middleware.client::<S>(&format!("{}/{service}", self.name))?);
        if poll_until(self.limit, || client.is_ready().then_some(())).await.is_none() {
            return Err(no_service(self.middleware, client.name(), self.limit));
        }
        let (sender, mut answer) = oneshot::channel();
        // Fails if this call no longer waits.
        client.call(request, move |response| drop(sender.send(response)))?;
        wait_for_response(client.name(), self.limit, &mut answer).await
    }

    /// Names of all parameters, sorted.
    pub async fn list(&self) -> Result<Vec<String>, CommandError> {
        let request = ListParametersRequest::default();
        let listed = self.call::<ListParameters>("list_parameters", request).await?;
        let mut names = listed.result.names;
        names.sort();
        Ok(names)
    }

    /// Values of parameters. Errors: the node does not have one of them.
    pub async fn get(&self, names: &[String]) -> Result<Vec<ParamValue>, CommandError> {
        let request = GetParametersRequest { names: names.to_vec() };
        let got = self.call::<GetParameters>("get_parameters", request).await?;
        let values: Vec<_> = got.values.iter().map(from_msg).collect();
        // To an unknown name a node answers with an empty list, or with a value that is not set.
        for (i, name) in names.iter().enumerate() {
            if !matches!(values.get(i), Some(Some(_))) {
                return Err(self.unknown(name).await);
            }
        }
        Ok(values.into_iter().flatten().collect())
    }

    /// Sets a parameter to a value in YAML. The value gets the declared type of the parameter: `60` becomes a double for a double
    /// parameter, and a string for a string parameter.
    pub async fn set(&self, name: &str, text: &str) -> Result<(), CommandError> {
        let request = GetParameterTypesRequest { names: vec![name.to_owned()] };
        let types = self.call::<GetParameterTypes>("get_parameter_types", request).await?.types;
        let declared = types.first().copied().unwrap_or(0);
        let value = value_of(text, declared);
        let wrong = |why: String| CommandError::Graph(format!("the value of {name}: {why}"));
        let (value, kind) = value.map_err(wrong)?;
        let parameter = Parameter { name: name.to_owned(), value: to_msg(&value, kind) };
        let request = SetParametersRequest { parameters: vec![parameter] };
        let set = self.call::<SetParameters>("set_parameters", request).await?;
        match set.results.into_iter().next() {
            Some(result) if result.successful => Ok(()),
            result => {
                let reason = result.map(|result| result.reason).unwrap_or_default();
                let hint = if declared == 0 { self.hint(name).await } else { String::new() };
                let text = format!("{} refuses {name}: {reason}{hint}", self.name);
                Err(CommandError::Graph(text))
            }
        }
    }

    /// Types, ranges and meaning of parameters.
    pub async fn describe(&self, names: &[String]) -> Result<String, CommandError> {
        let request = DescribeParametersRequest { names: names.to_vec() };
        let described = self.call::<DescribeParameters>("describe_parameters", request).await?;
        let mut text = String::new();
        for (i, name) in names.iter().enumerate() {
            match described.descriptors.get(i).filter(|descriptor| descriptor.type_ != 0) {
                Some(descriptor) => description(&mut text, descriptor),
                None => return Err(self.unknown(name).await),
            }
        }
        Ok(text)
    }

    /// All parameters with their values as a parameter file.
    pub async fn dump(&self) -> Result<String, CommandError> {
        let names = self.list().await?;
        let values = self.get(&names).await?;
        let mut text = format!("{}:\n  ros__parameters:\n", self.name);
        for (name, value) in names.iter().zip(values) {
            let _ = writeln!(text, "    {name}: {value}");
        }
        Ok(text)
    }

    async fn unknown(&self, name: &str) -> CommandError {
        let hint = self.hint(name).await;
        CommandError::Graph(format!("{} has no parameter {name}{hint}", self.name))
    }

    async fn hint(&self, name: &str) -> String {
        let names = self.list().await.unwrap_or_default();
        did_you_mean(name, names.iter().map(String::as_str))
    }
}

/// Reads a value in YAML; returns it with its type. Any scalar becomes a string if a string is declared, an integer becomes a
/// double if a double is declared.
fn value_of(text: &str, declared: u8) -> Result<(ParamValue, u8), String> {
    const TEXT: u8 = ParamType::String as u8;
    const REAL: u8 = ParamType::Double as u8;
    let scalar = |kind: YamlKind, wanted: u8| match (wanted, kind) {
        (TEXT, YamlKind::Scalar(text, _)) => Ok(ParamValue::Str(text)),
        (REAL, YamlKind::Scalar(_, ParamValue::Int(number))) => {
            Ok(ParamValue::Float(number as f64))
        }
        (_, YamlKind::Scalar(_, value)) => Ok(value),
        _ => Err("must be a value, or an array of values".to_owned()),
    };
    match yaml::parse(text).map_err(|error| error.message)?.map(|yaml| yaml.kind) {
        None | Some(YamlKind::Empty) => Err("is empty; write \"''\" for an empty text".to_owned()),
        Some(YamlKind::Sequence(items)) => {
            let wanted = declared.saturating_sub(ARRAYS);
            let items = items.into_iter().map(|item| scalar(item.kind, wanted));
            let items = items.collect::<Result<Vec<_>, _>>()?;
            let Some(kind) = items.first().map(scalar_type) else {
                let kind = if declared > ARRAYS { declared } else { ARRAYS + TEXT };
                return Ok((ParamValue::List(items), kind));
            };
            if items.iter().any(|item| scalar_type(item) != kind) {
                return Err(format!("{text} has elements of different types"));
            }
            Ok((ParamValue::List(items), ARRAYS + kind))
        }
        Some(kind) => scalar(kind, declared).map(|value| {
            let kind = scalar_type(&value);
            (value, kind)
        }),
    }
}

/// Type number of an array minus that of its elements.
const ARRAYS: u8 = 5;

fn scalar_type(value: &ParamValue) -> u8 {
    let kind = match value {
        ParamValue::Bool(_) => ParamType::Bool,
        ParamValue::Int(_) => ParamType::Integer,
        ParamValue::Float(_) => ParamType::Double,
        ParamValue::Str(_) | ParamValue::List(_) => ParamType::String,
    };
    kind as u8
}

/// Names of the types of `rcl_interfaces/msg/ParameterType`.
#[rustfmt::skip] // a table
const TYPES: [&str; 10] = [
    "not set", "boolean", "integer", "double", "string", "byte array", "boolean array", "integer array", "double array", "string array",
];

fn description(text: &mut String, descriptor: &ParameterDescriptor) {
    let kind = TYPES.get(usize::from(descriptor.type_)).copied().unwrap_or("unknown");
    let mut line = |text_of: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{text_of}");
    };
    line(format_args!("Parameter name: {}", descriptor.name));
    line(format_args!("  Type: {kind}"));
    if !descriptor.description.is_empty() {
        line(format_args!("  Description: {}", descriptor.description));
    }
    line(format_args!("  Constraints:"));
    if descriptor.read_only {
        line(format_args!("    Read only: true"));
    }
    for range in descriptor.floating_point_range.iter() {
        line(format_args!("    Min value: {:?}", range.from_value));
        line(format_args!("    Max value: {:?}", range.to_value));
    }
    for range in descriptor.integer_range.iter() {
        line(format_args!("    Min value: {}", range.from_value));
        line(format_args!("    Max value: {}", range.to_value));
    }
    if !descriptor.additional_constraints.is_empty() {
        line(format_args!("    Additional constraints: {}", descriptor.additional_constraints));
    }
}

/// A value with the name of its type, as `ros2 param get` prints it.
pub fn labelled(value: &ParamValue) -> String {
    let kind = match value {
        ParamValue::Bool(_) => "Boolean value is",
        ParamValue::Int(_) => "Integer value is",
        ParamValue::Float(_) => "Double value is",
        ParamValue::Str(text) => return format!("String value is: {text}"),
        ParamValue::List(values) => match values.first() {
            Some(ParamValue::Bool(_)) => "Boolean values are",
            Some(ParamValue::Int(_)) => "Integer values are",
            Some(ParamValue::Float(_)) => "Double values are",
            _ => "String values are",
        },
    };
    format!("{kind}: {value}")
}
