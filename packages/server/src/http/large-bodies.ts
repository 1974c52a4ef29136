import { fail } from '@svc/contract/errors'
import type { FastifyRequest } from 'fastify'

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

  /** Takes a slot for a request of a tenant. Throws `overloaded` when there is none. */
  take({ caller, raw }: FastifyRequest): LargeBody {
    // Banks and networks are known by the signature of their body, after it is read: they share the slots of one tenant.
    const tenantId = caller?.tenantId ?? ''
    const { socket } = raw
    // Its body would never end.
    if (socket.destroyed) fail('bad_request')
    const ofTenant = this.#ofTenants.get(tenantId) ?? 0
    if (this.#total >= PROCESS_MAX || ofTenant >= TENANT_MAX) fail('overloaded', { retryAfterSeconds: 1 })
    this.#total++
    this.#ofTenants.set(tenantId, ofTenant + 1)
    const slot = new LargeBody(() => {
      socket.off('close', broken)
      this.#total--
      const left = this.#ofTenants.get(tenantId)! - 1
      if (left > 0) this.#ofTenants.set(tenantId, left)
      else this.#ofTenants.delete(tenantId)
    })
    const broken = () => {
      if (!raw.complete) slot.leave()
    }
    socket.once('close', broken)
    return slot
  }
}

/** The slot of a request. */
export class LargeBody {
  #free: (() => void) | undefined

  constructor(free: () => void) {
    this.#free = free
  }

  /** The request is done, however it ended; again has no effect. */
  leave(): void {
    this.#free?.()
    this.#free = undefined
  }
}
