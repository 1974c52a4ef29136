import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyMaker } from '@svc/core/tenants/api-key'
import { linkMerchant } from '@svc/core/tenants/merchant'
import { takeTurn } from '@svc/platform/db/turn'
import { writeWhole } from '@svc/platform/write-whole'
import type { Services } from '../http/operation.ts'
import { demoMerchant, disabledTenants, setDemoAccount } from './demo.ts'
import { demoCoins } from './demo-coins.ts'
import { fundDemo } from './demo-funds.ts'
import { demoPartner, GIFT_ACCOUNT } from './demo-partners.ts'
import type { DemoMerchant, DemoPartner } from './sandbox-file.ts'

/** The tenants whose credentials and records the reference shows: what readers try changes no other tenant. */
export interface ReferenceTenants {
  readonly merchant: DemoMerchant
  readonly partner: DemoPartner
}

const MERCHANT = { name: 'Reference Shop', vpa: 'reference.shop@svcbank', mcc: '5399' }
const PARTNER = {
  partner: { name: 'Reference Partner', products: ['incentive'] },
  company: 'Reference Industries Private Limited',
  account: GIFT_ACCOUNT,
  user: { firstName: 'Kavya', lastName: 'Nair', mobile: '9000000020', email: 'kavya.nair@example.com' },
} as const

const fileIn = (dataDir: string): string => join(dataDir, 'reference.json')

/** `undefined` until they exist. */
export async function readReferenceTenants(dataDir: string): Promise<ReferenceTenants | undefined> {
  let text: string
  try {
    text = await readFile(fileIn(dataDir), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return JSON.parse(text) as ReferenceTenants
}

/** Makes sure that they exist, with working credentials in `reference.json`. Disabled ones stay as they are. */
export async function prepareReferenceTenants(
  services: Services,
  maker: KeyMaker,
): Promise<ReferenceTenants> {
  const { config, database } = services
  const previous = await readReferenceTenants(config.DATA_DIR)
  const { tenants, isDisabled } = await database.operate(async (tx) => {
    await takeTurn(tx, 'demo tenants')
    const disabled = await disabledTenants(tx)
    const merchant = await demoMerchant(tx, maker, disabled, MERCHANT, previous?.merchant)
    const partner = await demoPartner(tx, maker, disabled, PARTNER, previous?.partner)
    if (!disabled.has(merchant.merchantId)) {
      await setDemoAccount(tx, merchant.merchantId)
      await linkMerchant(tx, merchant.merchantId, partner.partnerId)
    }
    return { tenants: { merchant, partner }, isDisabled: disabled.has(partner.partnerId) }
  })
  if (!isDisabled) {
    await fundDemo(services, tenants.partner)
    await demoCoins(services, tenants.partner)
  }
  await writeWhole(fileIn(config.DATA_DIR), `${JSON.stringify(tenants, null, 2)}\n`)
  return tenants
}
