//! Processes under measurement, and the sensors that they receive.
use super::Result;
use super::processor::processor_time;
use rfly_bridge::config::config_json;
use rfly_bridge::config::params::RequestFormat;
use rfly_bridge::emulator::Emulator;
use rfly_bridge::node::sensor_request;
#[cfg(feature = "zenoh")]
use rfly_bridge::ros::MiddlewareKind;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// DDS domain of the benchmark; children inherit it.
pub(crate) const DOMAIN: &str = "91";

/// Configuration of nodes on Zenoh: they connect to the router.
pub(crate) const ZENOH: &str =
    r#"connect/endpoints=["tcp/127.0.0.1:17447"];listen/endpoints=["tcp/127.0.0.1:0"]"#;
#[cfg(feature = "zenoh")]
const ZENOH_ROUTER: &str = r#"listen/endpoints=["tcp/127.0.0.1:17447"]"#;

/// A Config.json in the temporary directory.
pub(crate) struct Config {
    path: PathBuf,
    text: String,
    width: u16,
    height: u16,
}

impl Config {
    /// Writes `count` RGB sensors.
    pub(crate) fn write(count: u16, width: u16, height: u16, mode: u16, hz: u64) -> Result<Self> {
        let sensor = |seq: u16| {
            format!(
                r#"{{"SeqID":{seq},"TypeID":1,"TargetCopter":1,"TargetMountType":0,"DataWidth":{width},"DataHeight":{height},
                "DataCheckFreq":{hz},"SendProtocol":[{mode},0,0,0,0,{},0,0],"CameraFOV":90,"SensorPosXYZ":[0.3,0,0],
                "SensorAngEular":[0,0,0],"otherParams":[0,0,0,0,0,0,0,0]}}"#,
                9999 + seq
            )
        };
        let sensors: Vec<_> = (0..count).map(sensor).collect();
        let text = format!(r#"{{"VisionSensors":[{}]}}"#, sensors.join(","));
        let path = std::env::temp_dir()
            .join(format!("rfly_bench_{}_{count}_{width}_{mode}.json", std::process::id()));
        std::fs::write(&path, &text)?;
        Ok(Self { path, text, width, height })
    }

    /// Requests the sensors, for a subject that does not do so itself.
    pub(crate) fn request(&self) -> Result<()> {
        let overrides = config_json::VendorOverrides {
            transport: config_json::TransportOverride::File,
            ..Default::default()
        };
        let loaded = config_json::load(&[("bench".to_owned(), self.text.clone())], &overrides)
            .map_err(|p| p.to_string())?;
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        let mut buffer = [0; 148];
        for sensor in &loaded.sensors {
            let request = sensor_request(sensor, RequestFormat::Vendor);
            socket.send_to(request.emit(&mut buffer), "127.0.0.1:20010")?;
        }
        Ok(())
    }

    /// Returns how many frames the emulator has sent.
    pub(crate) fn sent(&self, emulator: &Emulator) -> u64 {
        emulator.stats().sensors.values().map(|s| s.frames).sum()
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        let _gone_already = std::fs::remove_file(&self.path);
    }
}

/// Returns the command that starts a program, under a profiler if one is given.
fn command(profiler: &[String], program: PathBuf) -> Command {
    match profiler {
        [] => Command::new(program),
        [first, arguments @ ..] => {
            let mut command = Command::new(first);
            command.args(arguments).arg(program);
            command
        }
    }
}

fn bridge_program() -> PathBuf {
    let program = std::env::var_os("RFLY_BRIDGE");
    program.unwrap_or_else(|| env!("CARGO_BIN_EXE_rfly_bridge").into()).into()
}

fn bridge_command(config: &Config, parameters: &[&str], profiler: &[String]) -> Command {
    let mut command = command(profiler, bridge_program());
    let path = format!("config:={}", config.path.display());
    // Stamps are simulation time, as those of the floor, so that both latencies are computed alike.
    command.args(["--ros-args", "--log-level", "warn", "-p", &path]);
    command.args(["-p", "time.mode:=sim", "-p", "transport_mode:=file"]);
    for parameter in parameters {
        command.args(["-p", parameter]);
    }
    command
}

/// A child process; killed when dropped.
pub(crate) struct Subject {
    child: Child,
}

impl Subject {
    /// Starts the floor, under a profiler if one is given.
    pub(crate) fn floor(transport: &str, config: &Config, profiler: &[String]) -> Result<Self> {
        let mut command = command(profiler, std::env::current_exe()?);
        command.args(["floor", transport, &config.width.to_string(), &config.height.to_string()]);
        Self::spawn(command)
    }

    /// Starts the bridge with further parameters `name:=value`, under a profiler if one is given.
    pub(crate) fn bridge(
        config: &Config,
        parameters: &[&str],
        profiler: &[String],
    ) -> Result<Self> {
        Self::spawn(bridge_command(config, parameters, profiler))
    }

    /// Starts the bridge on a middleware.
    #[cfg(feature = "zenoh")]
    pub(crate) fn bridge_on(
        middleware: MiddlewareKind,
        config: &Config,
        parameters: &[&str],
    ) -> Result<Self> {
        let mut command = bridge_command(config, parameters, &[]);
        if middleware == MiddlewareKind::Zenoh {
            command.env("RMW_IMPLEMENTATION", "rmw_zenoh_cpp").env("ZENOH_CONFIG_OVERRIDE", ZENOH);
        }
        Self::spawn(command)
    }

    /// Starts a Zenoh router for bridge and subscriber.
    #[cfg(feature = "zenoh")]
    pub(crate) fn router() -> Result<Self> {
        let mut command = Command::new(bridge_program());
        command.arg("router").env("ZENOH_CONFIG_OVERRIDE", ZENOH_ROUTER).stdout(Stdio::null());
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Result<Self> {
        command.env("ROS_LOCALHOST_ONLY", "1").env("ROS_DOMAIN_ID", DOMAIN).stdin(Stdio::null());
        Ok(Self { child: command.spawn()? })
    }

    /// Returns the processor time used so far.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        Ok(processor_time(self.child.id())?.as_secs_f64())
    }

    /// Returns the processor time that the threads of this name have used so far.
    pub(crate) fn thread_seconds(&self, name: &str) -> Result<f64> {
        let mut nanoseconds = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let task = task?.path();
            if std::fs::read_to_string(task.join("comm"))?.trim() == name {
                let text = std::fs::read_to_string(task.join("schedstat"))?;
                nanoseconds += text.split(' ').next().unwrap_or("0").parse::<u64>()?;
            }
        }
        Ok(nanoseconds as f64 * 1e-9)
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}
