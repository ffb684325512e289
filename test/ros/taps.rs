//! Taps of publishers: the bytes of a reader in this process are those of the middleware.
use rfly_bridge::msgs::{
    sensor_msgs::msg::Image,
    std_msgs::msg::{Header, String as Text},
};
#[cfg(feature = "dds")]
use rfly_bridge::ros::{Cdr, Distro};
use rfly_bridge::ros::{ImageHead, Middleware, Options, Outcome, Qos, Tap, TapReader, TapTopic};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Samples {
    topics: Mutex<Vec<String>>,
    seen: Mutex<Vec<Vec<u8>>>,
    ages: Mutex<Vec<Duration>>,
    idle: AtomicBool,
}

impl TapReader for Samples {
    fn wanted(&self) -> bool {
        !self.idle.load(Ordering::Relaxed)
    }

    fn sample(&self, parts: &[&[u8]]) {
        self.seen.lock().expect("not poisoned").push(parts.concat());
    }

    fn kept(&self, sample: &[u8], age: Duration) {
        self.ages.lock().expect("not poisoned").push(age);
        self.sample(&[sample]);
    }
}

struct Chosen(&'static str, Arc<Samples>);

impl Tap for Chosen {
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        let mut topics = self.1.topics.lock().expect("not poisoned");
        topics.push(format!("{} {}", topic.name, topic.type_name));
        (topic.name == self.0).then(|| self.1.clone() as Arc<dyn TapReader>)
    }
}

fn text(data: &str) -> Text {
    Text { data: data.to_owned() }
}

fn tap(node: &Middleware, topic: &'static str) -> (Arc<Samples>, rfly_bridge::ros::TapGuard) {
    let samples = Arc::new(Samples::default());
    let guard = node.tap(Arc::new(Chosen(topic, samples.clone())));
    (samples, guard)
}

#[test]
fn a_tap_gets_what_the_middleware_gets_and_nothing_after_its_end() {
    let (node, recorder) = Middleware::recorder(&Options::new("rfly_bridge")).expect("joined");
    let early = node.publisher::<Text>("/early", Qos::DEFAULT).expect("opened");
    let (samples, guard) = tap(&node, "/image");
    let image = node.image("/image", Qos::IMAGE).expect("opened");
    assert_eq!(
        *samples.topics.lock().expect("not poisoned"),
        ["/early std_msgs/msg/String", "/image sensor_msgs/msg/Image"]
    );
    let head =
        ImageHead { header: &Header::default(), height: 1, width: 3, encoding: "mono8", step: 3 };
    assert_eq!(image.subscribers(), 1, "a tap is a reader");
    assert_eq!(early.subscribers(), 0, "not of what it left out");
    image.publish(&head, b"abc").expect("published");
    let mut loan = image.loan(3);
    loan.as_mut()[..3].copy_from_slice(b"xyz");
    image.publish_loan(&head, loan, 3).expect("published");
    let torn = image.publish_if(&head, b"...", &|| false).expect("asked");
    assert_eq!(torn, Outcome::Torn);
    early.publish(&text("left out")).expect("published");

    let seen = samples.seen.lock().expect("not poisoned").clone();
    let messages = recorder.messages::<Image>("/image").expect("decoded");
    let data: Vec<_> = messages.iter().map(|message| &message.data[..]).collect();
    assert_eq!(data, [b"abc", b"xyz"]);
    assert_eq!(seen, recorder.raw("/image"));

    drop(guard);
    assert_eq!(image.subscribers(), 0);
    image.publish(&head, b"end").expect("published");
    assert_eq!(samples.seen.lock().expect("not poisoned").len(), 2);
}

#[test]
fn a_late_tap_gets_the_kept_samples_of_a_latched_topic_once_with_their_ages() {
    let (node, _recorder) = Middleware::recorder(&Options::new("rfly_bridge")).expect("joined");
    let latched = node.publisher::<Text>("/latched", Qos::LATCHED.with_depth(2)).expect("opened");
    let start = Instant::now();
    for word in ["one", "two", "three"] {
        latched.publish(&text(word)).expect("published");
        std::thread::sleep(Duration::from_millis(5));
    }
    let (samples, _guard) = tap(&node, "/latched");
    latched.publish(&text("four")).expect("published");
    let seen = samples.seen.lock().expect("not poisoned");
    let words: Vec<_> = seen
        .iter()
        .map(|cdr| String::from_utf8_lossy(&cdr[8..]).trim_end_matches('\0').to_owned())
        .collect();
    assert_eq!(words, ["two", "three", "four"]);
    let ages = samples.ages.lock().expect("not poisoned");
    let [two, three] = ages[..] else { panic!("{ages:?}") };
    let least = Duration::from_millis(5);
    assert!(start.elapsed() > two && two >= 2 * least && three >= least, "{ages:?}");
}

#[test]
fn a_tap_that_wants_nothing_for_now_is_no_subscriber() {
    let (node, _recorder) = Middleware::recorder(&Options::new("rfly_bridge")).expect("joined");
    let publisher = node.publisher::<Text>("/text", Qos::DEFAULT).expect("opened");
    let (samples, _guard) = tap(&node, "/text");
    samples.idle.store(true, Ordering::Relaxed);
    assert_eq!(publisher.subscribers(), 0);
    publisher.publish(&text("unseen")).expect("published");
    assert!(samples.seen.lock().expect("not poisoned").is_empty());
}

/// Keeps what it is shown, without a copy.
#[cfg(feature = "dds")]
#[derive(Default)]
struct Keeper(Mutex<Vec<Arc<Cdr>>>);

#[cfg(feature = "dds")]
impl TapReader for Keeper {
    fn wanted(&self) -> bool {
        true
    }

    fn sample(&self, _: &[&[u8]]) {
        panic!("the middleware has it whole");
    }

    fn whole(&self, cdr: &Arc<Cdr>) {
        self.0.lock().expect("not poisoned").push(cdr.clone());
    }
}

#[cfg(feature = "dds")]
struct All(Arc<Keeper>);

#[cfg(feature = "dds")]
impl Tap for All {
    fn open(&self, _: &TapTopic<'_>) -> Option<Arc<dyn TapReader>> {
        Some(self.0.clone())
    }
}

#[cfg(feature = "dds")]
#[test]
fn what_a_tap_keeps_stays_as_it_was_while_other_samples_follow() {
    let node = super::probe::node(73, Distro::Newer);
    let keeper = Arc::new(Keeper::default());
    let _guard = node.tap(Arc::new(All(keeper.clone())));
    let image = node.image("/image", Qos::IMAGE).expect("opened");
    let head = ImageHead {
        header: &Header::default(),
        height: 10,
        width: 100,
        encoding: "mono8",
        step: 100,
    };
    for value in 0..40_u8 {
        // In turns lent memory, and a copy.
        if value % 2 == 0 {
            let mut loan = image.loan(1000);
            loan.as_mut()[..1000].fill(value);
            image.publish_loan(&head, loan, 1000).expect("published");
        } else {
            image.publish(&head, &[value; 1000]).expect("published");
        }
    }
    let torn = image.publish_if(&head, &[99; 1000], &|| false);
    assert_eq!(torn.expect("asked"), Outcome::Torn);
    let kept = keeper.0.lock().expect("not poisoned");
    assert_eq!(kept.len(), 40);
    for (cdr, value) in kept.iter().zip(0_u8..) {
        let bytes: &[u8] = (**cdr).as_ref();
        assert_eq!(bytes[..4], [0, 1, 0, 0]);
        let data = bytes.iter().filter(|byte| **byte == value).count();
        assert!(data >= 1000, "{value}: {data} of 1000 bytes");
    }
}
