// The server: channels, subscriptions, services; connects again by itself.
import { decoder } from "./cdr.js";

const AGAIN_MS = 1000;

export class Link extends EventTarget {
  constructor(host) {
    super();
    this.host = host;
    this.wanted = new Map(); // topic -> callbacks
    this.open();
  }

  open() {
    this.channels = new Map(); // topic -> channel
    this.subscribed = new Map(); // number -> {topic, take}
    this.services = new Map();
    this.calls = new Map();
    this.info = null;
    this.socket = new WebSocket(`ws://${this.host}/`, ["rfly.page.v1"]);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => (typeof data === "string" ? this.onText(JSON.parse(data)) : this.onData(data));
    this.socket.onclose = () => {
      this.calls.forEach((call) => call.reject(new Error("the connection ended")));
      this.tell("closed");
      setTimeout(() => this.open(), AGAIN_MS);
    };
  }

  tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  onText(message) {
    if (message.op === "serverInfo") {
      this.info = message;
      this.tell("opened", message);
    } else if (message.op === "advertise") {
      for (const channel of message.channels) {
        this.channels.set(channel.topic, channel);
        if (this.wanted.has(channel.topic)) this.begin(channel.topic);
      }
      this.tell("channels");
    } else if (message.op === "unadvertise") {
      for (const [topic, channel] of this.channels) {
        if (!message.channelIds.includes(channel.id)) continue;
        this.channels.delete(topic);
        this.subscribed.delete(channel.id);
      }
      this.tell("channels");
    } else if (message.op === "advertiseServices") {
      message.services.forEach((service) => this.services.set(service.name, service));
      this.tell("services");
    } else if (message.op === "serviceCallFailure") {
      this.calls.get(message.callId)?.reject(new Error(message.message));
      this.calls.delete(message.callId);
    } else if (message.op === "status") {
      this.tell("status", message.message);
    }
  }

  onData(buffer) {
    const view = new DataView(buffer);
    if (view.getUint8(0) === 3) {
      const number = view.getUint32(5, true);
      const length = view.getUint32(9, true);
      const body = new TextDecoder().decode(new Uint8Array(buffer, 13 + length));
      this.calls.get(number)?.resolve(JSON.parse(body));
      this.calls.delete(number);
      return;
    }
    const subscription = this.subscribed.get(view.getUint32(1, true));
    if (!subscription) return;
    const message = subscription.decode(new DataView(buffer, 13));
    for (const callback of this.wanted.get(subscription.topic) ?? []) callback(message, buffer.byteLength);
  }

  begin(topic) {
    const channel = this.channels.get(topic);
    if (!channel || this.socket.readyState !== WebSocket.OPEN) return;
    const decode = channel.encoding === "jpeg"
      ? (view) => new Blob([new Uint8Array(view.buffer, view.byteOffset)], { type: "image/jpeg" })
      : decoder(channel.schema, channel.schemaName);
    this.subscribed.set(channel.id, { topic, decode });
    this.send({ op: "subscribe", subscriptions: [{ id: channel.id, channelId: channel.id }] });
  }

  send(message) { this.socket.send(JSON.stringify(message)); }

  /** Calls `callback` with each message of a topic; returns what ends it. */
  on(topic, callback) {
    const callbacks = this.wanted.get(topic);
    if (callbacks) callbacks.add(callback);
    else {
      this.wanted.set(topic, new Set([callback]));
      this.begin(topic);
    }
    return () => {
      const left = this.wanted.get(topic);
      left?.delete(callback);
      if (left?.size !== 0) return;
      this.wanted.delete(topic);
      const channel = this.channels.get(topic);
      if (channel && this.subscribed.delete(channel.id) && this.socket.readyState === WebSocket.OPEN) {
        this.send({ op: "unsubscribe", subscriptionIds: [channel.id] });
      }
    };
  }

  /** Topics of a type. */
  ofType(type) {
    return [...this.channels.values()].filter((channel) => channel.schemaName === type).map((channel) => channel.topic);
  }

  get control() { return this.info?.metadata?.control === "true"; }

  /** Calls a service with an object; resolves to its response. */
  call(name, request) {
    const service = this.services.get(name);
    if (!service) return Promise.reject(new Error(`there is no service ${name}`));
    const number = (this.number = (this.number ?? 0) + 1);
    const body = new TextEncoder().encode("json" + JSON.stringify(request));
    const message = new Uint8Array(13 + body.length);
    const view = new DataView(message.buffer);
    view.setUint8(0, 2);
    view.setUint32(1, service.id, true);
    view.setUint32(5, number, true);
    view.setUint32(9, 4, true);
    message.set(body, 13);
    this.socket.send(message);
    return new Promise((resolve, reject) => this.calls.set(number, { resolve, reject }));
  }
}
