/** Carries messages between the gateways of one installation, as long as it can. Nothing may depend on it. */
export interface Bus {
  /**
   * Sends to all other gateways. Returns false if it could not be handed to NATS now (not connected, or too large).
   * Never throws.
   */
  publish(topic: string, payload: Uint8Array): boolean;
  /** Calls the handler for every message of other gateways on this topic. */
  subscribe(topic: string, handler: (payload: Uint8Array) => void): void;
  readonly isConnected: boolean;
  /** The largest payload that publish takes. */
  readonly mostBytes: number;
  close(): Promise<void>;
}
