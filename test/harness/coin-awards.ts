import type { ApiResponse, Client } from './client.ts'
import { balanceOf, COINS } from './coins.ts'
import type { TestPartner } from './partner.ts'
import type { TestService } from './service.ts'

let requests = 0
export const newRequest = (): string => `request-${requests++}`

interface Awarded {
  readonly service: TestService
  readonly partner: TestPartner
  readonly client: Client
  readonly userId: string
}

/** Requests for the user, and with the client, that the tests have at the time. */
export const awardsOf = (current: () => Awarded) => ({
  allocate: (event: string, rest: object = {}): Promise<ApiResponse> => {
    const { client, userId, partner } = current()
    return client.post(`${COINS}/allocate`, {
      requestId: newRequest(),
      event,
      userId,
      companyId: partner.companyId,
      ...rest,
    })
  },
  redeem: (amount: number, rest: object = {}): Promise<ApiResponse> => {
    const { client, userId } = current()
    return client.post(`${COINS}/redeem`, { requestId: newRequest(), userId, amount, ...rest })
  },
  active: async (): Promise<number> => {
    const { client, userId } = current()
    return (await balanceOf(client, userId)).active
  },
  /** An instant of the service's clock as callers write it. */
  at: (aheadMs = 0): string => new Date(current().service.clock.now() + aheadMs).toISOString(),
})
