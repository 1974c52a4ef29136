import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SharedKey } from '@svc/core/tenants/jwe-keys'

// What clients read of a sandbox. It imports nothing of the server but types, so that `@svc/cli` has no server in it.

/** A card or rewards partner in `sandbox.json`, with all that it takes to encrypt, issue and search. */
export interface DemoPartner {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** A JWK. */
  readonly sharedKey: Omit<SharedKey, 'k'> & { readonly k: string }
  readonly companyId: string
  readonly cardAccountId: string
  readonly userId: string
}

/** Partners of the demo, by their name in `sandbox.json`. */
export const DEMO_PARTNER_NAMES = ['incentivePartner', 'rewardsPartner', 'otherPartner'] as const
export type DemoPartners = Record<(typeof DEMO_PARTNER_NAMES)[number], DemoPartner>

/** What `sandbox.json` says of coins: a configuration of the incentive partner, and a user who has coins. */
export interface DemoCoins {
  readonly coinConfigId: string
  readonly coinUserId: string
}

export interface DemoMerchant {
  readonly merchantId: string
  readonly apiKey: string
  readonly accessKey: string
  readonly vpa: string
}

/** `sandbox.json`: everything that a script needs to use the sandbox. */
export interface SandboxFile extends DemoPartners, DemoCoins {
  readonly baseUrl: string
  readonly merchant: DemoMerchant
  readonly otherMerchant: DemoMerchant
  readonly qrCodeId: string
}

/** Where a running sandbox serves the same. */
export const CREDENTIALS_PATH = '/sandbox/credentials'

export const sandboxFile = (dataDir: string): string => join(dataDir, 'sandbox.json')

export async function readSandboxFile(dataDir: string): Promise<SandboxFile | undefined> {
  try {
    return JSON.parse(await readFile(sandboxFile(dataDir), 'utf8')) as SandboxFile
  } catch {
    return undefined
  }
}
