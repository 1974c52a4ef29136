import { fail } from '@svc/contract/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Such requests of a process at a time. */
const PROCESS_MAX = 4
/** Of one tenant among them. */
const TENANT_MAX = 2

/**
 * Requests whose bodies may be larger than the usual are in memory several times over, so few are accepted at a time: a
 * slot is taken before the body is read (decision L2).
 */
export class LargeBodies {
  #total = 0
  readonly #ofTenants = new Map<string, number>()

  /** Counts a request of this tenant until the slot is free. Throws `overloaded` when there is none. */
  take(tenantId: string): LargeBody {
    const ofTenant = this.#ofTenants.get(tenantId) ?? 0
    if (this.#total >= PROCESS_MAX || ofTenant >= TENANT_MAX) fail('overloaded', { retryAfterSeconds: 1 })
    this.#total++
    this.#ofTenants.set(tenantId, ofTenant + 1)
    return new LargeBody(() => {
      this.#total--
      const left = this.#ofTenants.get(tenantId)! - 1
      if (left > 0) this.#ofTenants.set(tenantId, left)
      else this.#ofTenants.delete(tenantId)
    })
  }
}

/** The slot of a request: free once its connection has what it gets and its operation has ended, whichever is later. */
export class LargeBody {
  readonly #free: () => void
  #holds = 1

  constructor(free: () => void) {
    this.#free = free
  }

  /** The operation begins. Throws `overloaded` where the connection broke before. */
  hold(): void {
    if (this.#holds === 0) fail('overloaded', { retryAfterSeconds: 1 })
    this.#holds++
  }

  release(): void {
    this.#holds--
    if (this.#holds === 0) this.#free()
  }
}

/** Takes the slot of a request until its response is done, or its connection breaks. */
export function takeSlot(bodies: LargeBodies, request: FastifyRequest, { raw: response }: FastifyReply): void {
  const slot = bodies.take(request.caller!.tenantId)
  request.largeBody = slot
  const { socket } = request.raw
  // Node emits no `close` for a response that still waits behind others of a connection that breaks.
  const end = () => {
    socket.off('close', end)
    response.off('close', end)
    slot.release()
  }
  socket.once('close', end)
  response.once('close', end)
}
