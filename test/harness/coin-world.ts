import { type ApiResponse, type Client, type Json, payloadOf } from './client.ts'
import { CoinModel, type ModelConfig } from './coin-model.ts'
import { COINS, newConfig, newUsers } from './coins.ts'
import type { TestPartner } from './partner.ts'
import type { TestService } from './service.ts'

/** Users and configurations of a world. */
const COUNT = 2

/** Who the users of a world belong to, and how they are reached: by the services in turn. */
export interface CoinTenants {
  readonly service: TestService
  readonly partner: TestPartner
  readonly clients: () => readonly Client[]
}

type NewTerms = Pick<ModelConfig, 'amount' | 'days' | 'active' | 'activation'> & {
  readonly limitOver: number | undefined
}

export interface Sent {
  readonly path: string
  readonly body: object
  readonly response: ApiResponse
}

let requests = 0

/** Users and configurations of one run, with what the model makes of them. */
export class CoinWorld {
  readonly users: string[]
  readonly configs: { readonly made: Json; terms: ModelConfig; revision: number }[]
  readonly models = Array.from({ length: COUNT }, () => new CoinModel())
  readonly sent: Sent[] = []

  readonly #tenants: CoinTenants

  private constructor(tenants: CoinTenants, users: string[], made: Json[]) {
    this.#tenants = tenants
    this.users = users
    this.configs = made.map((config) => ({
      made: config,
      terms: { amount: 10, limit: undefined, days: 1, active: true, activation: 'at once' },
      revision: 1,
    }))
  }

  static async make(tenants: CoinTenants): Promise<CoinWorld> {
    const users = await newUsers(tenants.service, tenants.partner, COUNT)
    const configs = Array.from({ length: COUNT }, () =>
      newConfig(tenants.clients()[0]!, { amount: 10, coinsExpireAfterDays: 1 }),
    )
    return new CoinWorld(tenants, users, await Promise.all(configs))
  }

  /** Requests go to both services in turn. */
  async send(path: string, body: object): Promise<Sent> {
    const client = this.#tenants.clients()[this.sent.length % 2]!
    const sent = { path, body, response: await client.post(`${COINS}${path}`, body) }
    this.sent.push(sent)
    return sent
  }

  allocation = (who: number, which: number) => ({
    requestId: `model-${requests++}`,
    event: this.configs[which]!.made.event,
    userId: this.users[who]!,
    companyId: this.#tenants.partner.companyId,
  })
  redemption = (who: number, amount: number) => ({
    requestId: `model-${requests++}`,
    userId: this.users[who]!,
    amount,
  })

  void = () => ({ requestId: `model-${requests++}`, reason: 'model' })

  /** Allocations that callers were told of. */
  get allocationIds(): string[] {
    const made = this.sent.filter(({ path, response }) => path === '/allocate' && response.status === 200)
    return [...new Set(made.map(({ response }): string => response.json.payload.allocationId))]
  }

  async revise(which: number, { amount, limitOver, days, active, activation }: NewTerms): Promise<void> {
    const config = this.configs[which]!
    const limit = limitOver === undefined ? undefined : amount + limitOver
    const body = {
      amount,
      perUserDailyLimit: limit ?? null,
      coinsExpireAfterDays: days ?? null,
      status: active ? 'ACTIVE' : 'INACTIVE',
      activation: activation === 'confirmed' ? 'CONFIRMATION' : null,
      activateAfterDays: activation === 'after a day' ? 1 : null,
    }
    const path = `${COINS}/${config.made.coinConfigId}`
    const [client] = this.#tenants.clients()
    const changed = payloadOf(await client!.patch(path, body, { 'if-match': `"${config.revision}"` }))
    config.terms = { amount, limit, days, active, activation }
    config.revision = changed.revision
  }
}
