import { Api, payloadOf, type Schemas } from './api.ts'
import type { SharedKey } from './encryption.ts'
import { Merchant } from './merchant.ts'
import { Partner } from './partner.ts'
import { refuseInBrowsers } from './required.ts'
import type { operations } from './schema.ts'
import { type CallOptions, Transport, type TransportOptions, type WriteOptions } from './transport.ts'

type Simulated =
  | 'sandboxPay'
  | 'sandboxSpend'
  | 'sandboxRefund'
  | 'sandboxCardMessage'
  | 'sandboxBankTransfer'
type Body<O extends Simulated> = NonNullable<operations[O]['requestBody']>['content']['application/json']
type Advance = NonNullable<operations['sandboxAdvanceClock']['requestBody']>['content']['application/json']
type Paid = operations['sandboxPay']['responses'][200]['content']['application/json']['payload']

export interface DemoMerchant {
  readonly merchantId: string
  readonly apiKey: string
  readonly accessKey: string
  readonly vpa: string
}

export interface DemoPartner {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly sharedKey: SharedKey
  readonly companyId: string
  readonly cardAccountId: string
  readonly userId: string
}

/** What `sandbox.json` holds. */
export interface Demo {
  readonly baseUrl: string
  readonly merchant: DemoMerchant
  readonly otherMerchant: DemoMerchant
  readonly incentivePartner: DemoPartner
  readonly rewardsPartner: DemoPartner
  readonly otherPartner: DemoPartner
  /** A code of the merchant that takes payments. */
  readonly qrCodeId: string
  /** A coin configuration of the incentive partner, and a user who has coins. */
  readonly coinConfigId: string
  readonly coinUserId: string
}

export interface SandboxOptions extends Omit<TransportOptions, 'baseUrl'> {
  /** Of a sandbox elsewhere, such as in a container: its credentials come from there, and no file is read. */
  readonly baseUrl?: string
  /** The service's data folder, which holds `sandbox.json`; `DATA_DIR`, else `./data`. */
  readonly dataDir?: string
}

/** A clock that moves by a year does a year's work first. */
const ADVANCE_MS_MAX = 300_000

async function readDemo(dataDir = process.env['DATA_DIR'] || 'data'): Promise<Demo> {
  // Not imported, so that bundlers for browsers find nothing of Node in the package.
  const { readFile } = process.getBuiltinModule('node:fs/promises')
  const file = `${dataDir}/sandbox.json`
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Demo
  } catch (cause) {
    throw new Error(
      `There is no ${file}. Start a sandbox with \`npm start\`, or set DATA_DIR to its data folder`,
      { cause },
    )
  }
}

async function fetchDemo(options: TransportOptions): Promise<Demo> {
  const response = await new Api(new Transport(options)).fetch('/sandbox/credentials')
  return { ...((await response.json()) as Demo), baseUrl: options.baseUrl }
}

/** A running sandbox: its demo tenants, ready to call, and the world outside that it simulates. */
export class Sandbox {
  /** Everything in `sandbox.json`. */
  readonly demo: Demo
  readonly merchant: Merchant
  /** An incentive partner: issues gift cards, finds one card at a time, has coins. */
  readonly partner: Partner
  /** An employee-rewards partner: may search whole accounts. */
  readonly rewards: Partner
  readonly #api: Api

  private constructor(demo: Demo, options: SandboxOptions) {
    const { baseUrl, merchant, incentivePartner, rewardsPartner } = demo
    this.demo = demo
    this.merchant = new Merchant({ ...options, baseUrl, apiKey: merchant.apiKey })
    const partner = ({ sharedKey, partnerId, clientId, clientSecret }: DemoPartner) =>
      new Partner({ ...options, baseUrl, partnerId, clientId, clientSecret, encryption: { sharedKey } })
    this.partner = partner(incentivePartner)
    this.rewards = partner(rewardsPartner)
    this.#api = new Api(new Transport({ ...options, baseUrl }))
  }

  /** @throws Error that says how to start a sandbox when there is none. */
  static async open(options: SandboxOptions = {}): Promise<Sandbox> {
    const { baseUrl, dataDir, ...others } = options
    refuseInBrowsers('sandbox.json')
    const demo = baseUrl === undefined ? await readDemo(dataDir) : await fetchDemo({ ...others, baseUrl })
    return new Sandbox(demo, others)
  }

  /**
   * Plays the payer and the bank: pays a code. The response's `payment` shows what became of it. It is not sent again, as
   * a payer may pay twice; give a `utr`, and a repeat with it is the same credit.
   */
  async pay(payment: Body<'sandboxPay'>, options?: CallOptions): Promise<Paid> {
    return payloadOf(
      await this.#api.http.POST('/sandbox/upi/pay', { body: payment, ...this.#api.call(options) }),
    )
  }

  /**
   * Plays the bank: transfers money to the virtual account number of a card account. It is not sent again; give a `utr`,
   * and a repeat with it is the same transfer.
   */
  async transfer(
    transfer: Body<'sandboxBankTransfer'>,
    options?: CallOptions,
  ): Promise<Schemas['SandboxBankTransfer']> {
    const request = { body: transfer, ...this.#api.call(options) }
    return payloadOf(await this.#api.http.POST('/sandbox/bank/transfers', request))
  }

  /** The time of a tenant, and by how many seconds it is ahead of the service’s. */
  async clock(tenantId: string, options?: CallOptions): Promise<Schemas['TestClock']> {
    const params = { path: { tenantId } }
    return payloadOf(
      await this.#api.http.GET('/sandbox/tenants/{tenantId}/clock', { params, ...this.#api.call(options) }),
    )
  }

  /**
   * Moves the time of a tenant forward, by at most 400 days. Resolves when what time does has happened:
   * codes, tokens, holds and coins have expired. That may take 5 minutes by default. It is not sent again: after a lost
   * response call it again with the same `to`, which goes no further; with `bySeconds`, `clock` says how far it went.
   */
  async advance(tenantId: string, by: Advance, options: CallOptions = {}): Promise<Schemas['TestClock']> {
    const { timeoutMs = ADVANCE_MS_MAX, deadlineMs = ADVANCE_MS_MAX } = options
    const params = { path: { tenantId } }
    return payloadOf(
      await this.#api.http.POST('/sandbox/tenants/{tenantId}/clock/advance', {
        params,
        body: by,
        ...this.#api.call({ ...options, timeoutMs, deadlineMs }),
      }),
    )
  }

  /** Plays a shop: spends from a card. */
  async spend(
    svcCardId: string,
    purchase: Body<'sandboxSpend'>,
    options?: WriteOptions,
  ): Promise<Schemas['CardReceipt']> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/sandbox/cards/{svcCardId}/spend', { params, body: purchase, ...call }),
    )
  }

  /** Plays the card network: sends signed messages for a card to the card rail, in their order. */
  async sendCardMessage(
    svcCardId: string,
    message: Body<'sandboxCardMessage'>,
    options?: CallOptions,
  ): Promise<Schemas['SandboxCardMessages']> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/sandbox/cards/{svcCardId}/messages', { params, body: message, ...call }),
    )
  }

  /** Plays a shop that gives money back to a card. */
  async refund(
    svcCardId: string,
    refund: Body<'sandboxRefund'>,
    options?: WriteOptions,
  ): Promise<Schemas['CardReceipt']> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/sandbox/cards/{svcCardId}/refund', { params, body: refund, ...call }),
    )
  }
}
