// The least an rclcpp node can do, for comparison with the bridge.
//
//   rclcpp_floor bridge WIDTH HEIGHT               raw images from UDP port 9999 to /rflysim/sensor0/img_rgb
//   rclcpp_floor publish WIDTH HEIGHT HZ FRAMES    images from a buffer to /image, as examples/image_source.rs
//   rclcpp_floor count TOPIC                       a default reliable subscriber; answers every line on stdin with
//                                                  the number of images so far
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>

#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/image.hpp"

using sensor_msgs::msg::Image;

namespace
{
// Header of one piece of an image (docs/wire/image_fragment.md), the form with a frame id.
struct __attribute__((packed)) Fragment
{
  int32_t check, length, sequence, count, frame, reserved;
  double sim_time;
};

Image bgr8(uint32_t width, uint32_t height, const char * frame)
{
  Image image;
  image.header.frame_id = frame;
  image.width = width;
  image.height = height;
  image.encoding = "bgr8";
  image.step = width * 3;
  image.data.resize(size_t{width} * height * 3);
  return image;
}

int fail(const char * what)
{
  std::perror(what);
  return 1;
}

// Every datagram is received straight into its place in the message.
int bridge(uint32_t width, uint32_t height)
{
  auto node = std::make_shared<rclcpp::Node>("floor");
  auto publisher = node->create_publisher<Image>("/rflysim/sensor0/img_rgb", rclcpp::QoS(3).reliable());
  Image image = bgr8(width, height, "sensor0_optical_frame");

  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  int size = 8 << 20;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9999);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) {
    return fail("bind");
  }
  Fragment fragment{};
  size_t at = 0;
  while (rclcpp::ok()) {
    iovec pieces[2] = {{&fragment, sizeof fragment}, {image.data.data() + at, image.data.size() - at}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    ssize_t received = recvmsg(fd, &message, 0);
    if (received < static_cast<ssize_t>(sizeof fragment) || fragment.check != 1234567893) {
      continue;
    }
    at += static_cast<size_t>(received) - sizeof fragment;
    if (fragment.sequence + 1 < fragment.count) {
      if (at == image.data.size()) {at = 0;}
      continue;
    }
    if (at == image.data.size()) {
      auto nanoseconds = static_cast<int64_t>(fragment.sim_time * 1e9);
      image.header.stamp.sec = static_cast<int32_t>(nanoseconds / 1000000000);
      image.header.stamp.nanosec = static_cast<uint32_t>(nanoseconds % 1000000000);
      publisher->publish(image);
    }
    at = 0;
  }
  return 0;
}

double cpu_ms()
{
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

int publish(uint32_t width, uint32_t height, int rate, int frames)
{
  auto node = std::make_shared<rclcpp::Node>("image_source");
  auto publisher = node->create_publisher<Image>("/image", rclcpp::QoS(2).reliable());
  Image image = bgr8(width, height, "camera_optical_frame");
  for (int i = 0; i < 2000 && publisher->get_subscription_count() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto start = std::chrono::steady_clock::now();
  const double before = cpu_ms();
  for (int32_t frame = 0; frame < frames; ++frame) {
    std::this_thread::sleep_until(start + frame * std::chrono::nanoseconds(1000000000 / rate));
    std::memcpy(image.data.data(), &frame, sizeof frame);
    image.header.stamp = node->now();
    publisher->publish(image);
  }
  const double spent = cpu_ms() - before;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::printf("{\"published\": %d, \"cpu_ms_per_frame\": %.3f}\n", frames, spent / frames);
  return 0;
}

int count(const std::string & topic)
{
  auto node = std::make_shared<rclcpp::Node>("count");
  std::atomic<uint64_t> images{0};
  auto subscription = node->create_subscription<Image>(
    topic, rclcpp::QoS(5).reliable(), [&images](const Image::ConstSharedPtr) {++images;});
  std::thread spinning([node] {rclcpp::spin(node);});
  for (std::string line; std::getline(std::cin, line); ) {
    std::cout << images.load() << std::endl;
  }
  rclcpp::shutdown();
  spinning.join();
  return 0;
}
}  // namespace

int main(int argc, char ** argv)
{
  rclcpp::init(0, nullptr);
  const std::string what = argc > 1 ? argv[1] : "";
  auto number = [argv](int i) {return static_cast<uint32_t>(std::atoi(argv[i]));};
  if (what == "bridge" && argc == 4) {return bridge(number(2), number(3));}
  if (what == "publish" && argc == 6) {
    return publish(number(2), number(3), std::atoi(argv[4]), std::atoi(argv[5]));
  }
  if (what == "count" && argc == 3) {return count(argv[2]);}
  std::fprintf(stderr, "see the top of rclcpp_floor.cpp\n");
  return 2;
}
