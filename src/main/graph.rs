//! The subcommands on the ROS graph: `call`, `echo`, `pub`, `param` and `topics`.
use super::{START_GRACE, expect_done, join_graph, write_out};
use clap::{Args, Subcommand};
use rfly_bridge::node::{
    EchoOptions, ParameterNode, PublishOptions, TopicsOptions, call, echo, labelled,
    parameter_nodes, publish, runtime, topics,
};
use rfly_bridge::program::{Ended, Signals, parse_seconds};
use rfly_bridge::{config::ros_args::RosArgs, ros::Middleware};
use std::time::Duration;

#[derive(Args)]
pub(super) struct CallArgs {
    /// Name of the service.
    service: String,
    /// Its type, such as `std_srvs/srv/Trigger`; by default that of the graph.
    #[arg(value_name = "TYPE")]
    type_name: Option<String>,
    /// The request in YAML, such as `{points: [{x: 1.5}]}`; missing fields have their defaults.
    #[arg(value_name = "YAML")]
    request: Option<String>,
    #[command(flatten)]
    wait: WaitArgs,
}

impl CallArgs {
    /// A single argument is the type if it contains `/srv/`, else the request.
    fn type_and_request(&self) -> (Option<&str>, &str) {
        match (self.type_name.as_deref(), self.request.as_deref()) {
            (Some(word), None) if !word.contains("/srv/") => (None, word),
            (type_name, request) => (type_name, request.unwrap_or_default()),
        }
    }
}

#[derive(Args)]
struct WaitArgs {
    /// Time limit of the search in the graph, and of each response.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 5.0, value_parser = parse_seconds)]
    timeout: f64,
}

impl WaitArgs {
    fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }
}

#[derive(Args)]
pub(super) struct ParamArgs {
    #[command(subcommand)]
    command: ParamCommand,
    #[command(flatten)]
    wait: WaitArgs,
}

#[derive(Subcommand)]
enum ParamCommand {
    /// Lists the parameters of a node, or of all nodes.
    List {
        /// Name of the node, such as `/rfly_bridge`.
        node: Option<String>,
    },
    /// Prints values.
    Get {
        /// Name of the node.
        node: String,
        /// Names of the parameters.
        #[arg(required = true)]
        names: Vec<String>,
        /// Prints only the values.
        #[arg(long)]
        hide_type: bool,
    },
    /// Sets a parameter.
    Set {
        /// Name of the node.
        node: String,
        /// Name of the parameter.
        name: String,
        /// The value in YAML.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Prints types, ranges and meaning.
    Describe {
        /// Name of the node.
        node: String,
        /// Names of the parameters.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Prints all values of a node as a parameter file.
    Dump {
        /// Name of the node.
        node: String,
    },
}

pub(super) fn call_service(args: &RosArgs, arguments: CallArgs) -> anyhow::Result<()> {
    let response = on_graph(args, "rfly_bridge_call", async move |middleware| {
        let (type_name, request) = arguments.type_and_request();
        let limit = arguments.wait.limit();
        Ok(call(middleware, &arguments.service, type_name, request, limit).await?)
    })?;
    finish(response)
}

pub(super) fn echo_topic(args: &RosArgs, options: EchoOptions) -> anyhow::Result<()> {
    let is_endless = !options.once;
    let shown = on_graph(args, "rfly_bridge_echo", async move |middleware| {
        Ok(echo(middleware, &options).await?)
    })?;
    finish_endless(shown, is_endless)
}

pub(super) fn publish_topic(args: &RosArgs, options: PublishOptions) -> anyhow::Result<()> {
    let is_endless = options.count().is_none();
    let published = on_graph(args, "rfly_bridge_pub", async move |middleware| {
        Ok(publish(middleware, &options).await?)
    })?;
    finish_endless(published, is_endless)
}

pub(super) fn list_topics(args: &RosArgs, options: TopicsOptions) -> anyhow::Result<()> {
    let listed = on_graph(args, "rfly_bridge_topics", async move |middleware| {
        Ok(topics(middleware, options).await?)
    })?;
    finish(listed)
}

pub(super) fn run_param(args: &RosArgs, arguments: ParamArgs) -> anyhow::Result<()> {
    let text = on_graph(args, "rfly_bridge_param", async move |middleware| {
        parameters_text(middleware, arguments).await
    })?;
    finish(text)
}

async fn parameters_text(middleware: &Middleware, arguments: ParamArgs) -> anyhow::Result<String> {
    let limit = arguments.wait.limit();
    let node_at = |node: &str| ParameterNode::new(middleware, node, limit);
    let lines =
        |lines: Vec<String>| lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    Ok(match arguments.command {
        ParamCommand::List { node: Some(node) } => lines(node_at(&node)?.list().await?),
        ParamCommand::List { node: None } => {
            let mut text = String::new();
            for node in parameter_nodes(middleware, limit).await? {
                // A node that does not answer must not hide the others.
                match node.list().await.map(lines) {
                    Ok(names) => text += &format!("{}:\n{names}", node.name()),
                    Err(error) => tracing::warn!("{error}"),
                }
            }
            text
        }
        ParamCommand::Get { node, names, hide_type } => {
            let values = node_at(&node)?.get(&names).await?;
            let shown = |value| if hide_type { format!("{value}") } else { labelled(value) };
            values.iter().map(|value| shown(value) + "\n").collect()
        }
        ParamCommand::Set { node, name, value } => {
            node_at(&node)?.set(&name, &value).await?;
            "Set parameter successful\n".to_owned()
        }
        ParamCommand::Describe { node, names } => node_at(&node)?.describe(&names).await?,
        ParamCommand::Dump { node } => node_at(&node)?.dump().await?,
    })
}

/// Runs work as a node of the graph; `None` if a signal ends it.
fn on_graph<T: Send + 'static>(
    args: &RosArgs,
    name: &str,
    work: impl AsyncFnOnce(&Middleware) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<Ended<anyhow::Result<Option<T>>>> {
    let mut signals = Signals::listen()?;
    let middleware = join_graph(args, name, None)?;
    let ended = signals.during(START_GRACE, move |stop| {
        runtime("the runtime")?.block_on(async {
            tokio::select! {
                done = work(&middleware) => done.map(Some),
                _ = stop => Ok(None),
            }
        })
    })?;
    Ok(ended)
}

fn finish(ended: Ended<anyhow::Result<Option<String>>>) -> anyhow::Result<()> {
    match expect_done(ended, "command")?? {
        Some(text) => write_out(text),
        None => anyhow::bail!("interrupted"),
    }
}

/// As [`finish`] without an output; a signal is the normal end of an endless command.
fn finish_endless(end: Ended<anyhow::Result<Option<()>>>, is_endless: bool) -> anyhow::Result<()> {
    match end {
        Ended::Stopped(Ok(None)) | Ended::Abandoned if is_endless => Ok(()),
        end => expect_done(end, "command")?.map(drop),
    }
}
