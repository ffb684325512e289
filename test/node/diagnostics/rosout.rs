//! The log on `/rosout`.
use rfly_bridge::msgs::rcl_interfaces::msg::Log;
use rfly_bridge::node::rosout;
use rfly_bridge::ros::{Middleware, Options, Recorder};
use tracing_subscriber::layer::SubscriberExt as _;

fn node() -> (Middleware, Recorder) {
    let options = Options { namespace: "/a/b".to_owned(), ..Options::new("bridge") };
    Middleware::recorder(&options).expect("a recorder")
}

/// Logs in `body`, publishes afterwards, and returns what was published.
fn published(body: impl FnOnce()) -> Vec<Log> {
    let (middleware, recorder) = node();
    let (layer, queue) = rosout();
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, body);
    drop(queue.publish(&middleware).expect("a thread")); // it publishes what is left
    recorder.messages("/rosout").expect("logs")
}

#[test]
fn messages_have_level_logger_text_fields_and_place() {
    let line = line!() + 2;
    let logs = published(|| {
        tracing::warn!(source = "imu", count = 3, "silent for {} s", 2);
        tracing::error!("broken");
        tracing::info!("fine");
        tracing::debug!("detail");
    });
    let [warning, ..] = &logs[..] else { panic!("no message") };
    assert_eq!(warning.msg, "silent for 2 s source=\"imu\" count=3");
    assert_eq!((warning.level, warning.name.as_str()), (30, "a.b.bridge"));
    assert_eq!((warning.file.as_str(), warning.line), (file!(), line));
    assert!(warning.function.ends_with("rosout"), "{}", warning.function);
    assert!(warning.stamp.sec > 1_600_000_000, "a time since 1970");
    let levels: Vec<_> = logs.iter().map(|log| log.level).collect();
    assert_eq!(levels, [30, 40, 20, 10]);
}

/// What is logged before there is a node is published later, up to a limit, and what is missing is told.
#[test]
fn the_queue_is_bounded_and_says_what_it_lost() {
    let logs = published(|| {
        for n in 0..2000 {
            tracing::info!("message {n}");
        }
    });
    let kept = logs.iter().filter(|log| log.msg.starts_with("message")).count();
    assert_eq!(logs.len(), kept + 1);
    let missing =
        format!("{} log messages are missing on /rosout: its queue was full", 2000 - kept);
    assert_eq!((logs[0].msg.as_str(), logs[0].level), (missing.as_str(), 30));
    assert!((100..2000).contains(&kept), "{kept}");
}

#[test]
fn long_texts_are_cut_and_lines_cannot_be_forged() {
    let long = format!("mode\n{}", "x".repeat(10_000_000));
    let logs = published(|| tracing::warn!(why = long, "refused"));
    let text = &logs[0].msg;
    assert!(text.starts_with("refused why=\"mode\\nxxx"), "{text}");
    assert!(text.ends_with("xxx... (cut at 4096 bytes)"), "{text}");
    assert!(text.len() < 4200, "{}", text.len());

    let logs = published(|| tracing::warn!("FCU: {}", "fine\n[INFO] armed\u{1b}[2J"));
    assert_eq!(logs[0].msg, "FCU: fine\\n[INFO] armed\\u{1b}[2J");
}
