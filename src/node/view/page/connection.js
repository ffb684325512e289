// The connection to the server: channels, subscriptions, service calls. It reconnects by itself.
import { decoder } from "./cdr.js";

const RECONNECT_MS = 1000;

export class Connection extends EventTarget {
  constructor(host) {
    super();
    this.host = host;
    this.callbacks = new Map(); // topic -> Set of callbacks
    this.forget();
    this.closedAt = null; // when the server was last seen, while it is gone
    this.heardAt = performance.now();
    this.open();
  }

  forget() {
    this.channels = new Map(); // topic -> channel
    this.subscriptions = new Map(); // id -> {topic, decode}
    this.services = new Map();
  }

  open() {
    this.calls = new Map();
    this.info = null;
    this.socket = new WebSocket(`ws://${this.host}/`, ["rfly.page.v1"]);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => {
      this.heardAt = performance.now();
      if (typeof data === "string") this.onText(JSON.parse(data));
      else this.onData(data);
    };
    this.socket.onclose = () => {
      this.calls.forEach((call) => call.reject(new Error("the connection is closed")));
      if (this.closedAt === null) {
        this.closedAt = this.heardAt;
        this.emit("closed");
      }
      setTimeout(() => this.open(), RECONNECT_MS);
    };
  }

  emit(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  onText(message) {
    if (message.op === "serverInfo") {
      this.forget();
      this.info = message;
      this.closedAt = null;
      this.emit("opened", message);
    } else if (message.op === "advertise") {
      for (const channel of message.channels) {
        this.channels.set(channel.topic, channel);
        if (this.callbacks.has(channel.topic)) this.subscribe(channel.topic);
      }
      this.emit("channels");
    } else if (message.op === "unadvertise") {
      for (const [topic, channel] of this.channels) {
        if (!message.channelIds.includes(channel.id)) continue;
        this.channels.delete(topic);
        this.subscriptions.delete(channel.id);
      }
      this.emit("channels");
    } else if (message.op === "advertiseServices") {
      message.services.forEach((service) => this.services.set(service.name, service));
      this.emit("services");
    } else if (message.op === "unadvertiseServices") {
      for (const [name, service] of this.services) {
        if (message.serviceIds.includes(service.id)) this.services.delete(name);
      }
      this.emit("services");
    } else if (message.op === "serviceCallFailure") {
      this.calls.get(message.callId)?.reject(new Error(message.message));
      this.calls.delete(message.callId);
    } else if (message.op === "status") {
      this.emit("status", message.message);
    }
  }

  onData(buffer) {
    const view = new DataView(buffer);
    if (view.getUint8(0) === 3) {
      const callId = view.getUint32(5, true);
      const length = view.getUint32(9, true);
      const body = new TextDecoder().decode(new Uint8Array(buffer, 13 + length));
      this.calls.get(callId)?.resolve(JSON.parse(body));
      this.calls.delete(callId);
      return;
    }
    const subscription = this.subscriptions.get(view.getUint32(1, true));
    if (!subscription) return;
    const at = performance.now() - Number(view.getBigUint64(5, true)) / 1e6; // The server sends the age in ns.
    const message = subscription.decode(new DataView(buffer, 13));
    for (const callback of this.callbacks.get(subscription.topic) ?? []) callback(message, at);
  }

  subscribe(topic) {
    const channel = this.channels.get(topic);
    if (!channel || this.socket.readyState !== WebSocket.OPEN) return;
    const decode = channel.encoding === "jpeg"
      ? (view) => new Blob([new Uint8Array(view.buffer, view.byteOffset)], { type: "image/jpeg" })
      : decoder(channel.schema, channel.schemaName);
    this.subscriptions.set(channel.id, { topic, decode });
    this.send({ op: "subscribe", subscriptions: [{ id: channel.id, channelId: channel.id }] });
  }

  send(message) { this.socket.send(JSON.stringify(message)); }

  /** Calls `callback` with each message of a topic and when it was published; returns a function that unsubscribes. */
  on(topic, callback) {
    const callbacks = this.callbacks.get(topic);
    if (callbacks) callbacks.add(callback);
    else {
      this.callbacks.set(topic, new Set([callback]));
      this.subscribe(topic);
    }
    return () => {
      const remaining = this.callbacks.get(topic);
      remaining?.delete(callback);
      if (remaining?.size !== 0) return;
      this.callbacks.delete(topic);
      const channel = this.channels.get(topic);
      if (channel && this.subscriptions.delete(channel.id) && this.socket.readyState === WebSocket.OPEN) {
        this.send({ op: "unsubscribe", subscriptionIds: [channel.id] });
      }
    };
  }

  /** Topics of a type. */
  topicsOfType(type) {
    return [...this.channels.values()].filter((channel) => channel.schemaName === type).map((channel) => channel.topic);
  }

  get isOpen() { return this.info !== null && this.socket.readyState === WebSocket.OPEN; }
  get control() { return this.info?.metadata?.control === "true"; }

  /** Calls a service; resolves to its response. */
  call(name, request) {
    const service = this.services.get(name);
    if (!service || !this.isOpen) return Promise.reject(new Error(service ? "the bridge is gone" : `no such service: ${name}`));
    const callId = (this.lastCallId = (this.lastCallId ?? 0) + 1);
    const body = new TextEncoder().encode("json" + JSON.stringify(request));
    const message = new Uint8Array(13 + body.length);
    const view = new DataView(message.buffer);
    view.setUint8(0, 2);
    view.setUint32(1, service.id, true);
    view.setUint32(5, callId, true);
    view.setUint32(9, 4, true);
    message.set(body, 13);
    this.socket.send(message);
    return new Promise((resolve, reject) => this.calls.set(callId, { resolve, reject }));
  }
}
