//! An independent subscriber in another process: `probe.py` on PyPI `cyclonedds` and `rosbags`.
use crate::support::python;
use rfly_bridge::ros::{Discovery, Distro, Durability, Middleware, Options, Qos, Reliability};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

/// A running subscriber.
pub struct Probe {
    child: Child,
    output: BufReader<ChildStdout>,
}

/// What to subscribe to. The probe ends by itself once it has `count` samples of each; see also [`until`] and
/// [`knowing`].
pub fn subscription(topic: &str, type_name: &str, qos: Qos, count: usize) -> Value {
    json!({
        "topic": topic,
        "type": type_name,
        "reliable": qos.reliability == Reliability::Reliable,
        "transient_local": qos.durability == Durability::TransientLocal,
        "depth": qos.depth,
        "count": count,
    })
}

/// The same subscription, which also waits until the field at this path of its last sample is `value`.
pub fn until(mut subscription: Value, path: &[&str], value: impl Into<Value>) -> Value {
    subscription["until"] = json!([path, value.into()]);
    subscription
}

/// The same subscription in a probe that does not end before it knows a publisher of each of these topics.
pub fn knowing(mut subscription: Value, topics: &[&str]) -> Value {
    subscription["offered"] = json!(topics);
    subscription
}

impl Probe {
    /// Starts the subscriber and waits until its readers exist; `None` if there is no Python.
    pub fn start(
        domain: u32,
        distro: Distro,
        subscribe: &[Value],
        hashes: &[&str],
    ) -> Option<Self> {
        let python = python::interpreter()?;
        let distro = match distro {
            Distro::Newer => "jazzy",
            _ => "humble",
        };
        let plan =
            json!({ "domain": domain, "distro": distro, "subscribe": subscribe, "hashes": hashes });
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/ros/probe.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(plan.to_string())
            .env_remove("CYCLONEDDS_URI")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut probe = Self { child, output };
        probe.expect("ready");
        Some(probe)
    }

    /// Waits until each of its readers has found a publisher. (The publisher finds the reader earlier or later.)
    pub fn wait_matched(&mut self) {
        self.expect("matched");
    }

    fn expect(&mut self, word: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the probe speaks");
        assert_eq!(line.trim(), word, "the probe failed, see its error above");
    }

    /// Suspends the process, as a debugger or a stalled machine would.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it run again.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(status.expect("kill runs").success());
    }

    /// Asks for an end as soon as nothing more arrives and what it waits for is there, and returns the report.
    pub fn stop(mut self) -> Value {
        let _ = writeln!(self.child.stdin.as_mut().expect("piped"), "stop"); // it may have ended already
        self.finish()
    }

    /// Does something again and again until everything wanted has arrived, and returns the report.
    pub fn finish_while(self, mut act: impl FnMut()) -> Value {
        let thread = std::thread::Builder::new().name("probe".to_owned());
        let report = thread.spawn(move || self.finish()).expect("a thread");
        while !report.is_finished() {
            act();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        report.join().expect("a report")
    }

    /// Waits until everything wanted has arrived, and returns the report.
    pub fn finish(mut self) -> Value {
        let mut line = String::new();
        while line.trim() == "" || line.trim() == "matched" {
            line.clear();
            assert_ne!(
                self.output.read_line(&mut line).expect("the probe speaks"),
                0,
                "the probe failed"
            );
        }
        assert!(self.child.wait().expect("the probe ends").success());
        serde_json::from_str(&line).expect("a line of JSON")
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let _ = self.child.kill(); // no effect if it has ended
        let _ = self.child.wait();
    }
}

/// A node on loopback in a domain of its own. Ports of domains beyond 101 may be taken: Linux gives them to anybody.
pub fn node(domain: u32, distro: Distro) -> Middleware {
    let options = Options {
        domain_id: domain,
        discovery: Discovery::Localhost,
        distro,
        ..Options::new("bridge_under_test")
    };
    Middleware::join(&options).expect("a node on loopback")
}
