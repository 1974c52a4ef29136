import { findPayoutDetails, setPayoutDetails } from '@svc/core/payments/payouts/payout-terms'
import { issueApiKey, type KeyMaker } from '@svc/core/tenants/api-key'
import { createMerchant, linkMerchant, type Merchant, type NewMerchant } from '@svc/core/tenants/merchant'
import { invariant } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { takeTurn } from '@svc/platform/db/turn'
import { writeWhole } from '@svc/platform/write-whole'
import type { Services } from '../http/operation.ts'
import { demoCoins } from './demo-coins.ts'
import { fundDemo } from './demo-funds.ts'
import { DEMO_PARTNERS, type DisabledTenants, demoCards, demoPartner } from './demo-partners.ts'
import { isServed } from './running-sandbox.ts'
import {
  type DemoCoins,
  type DemoMerchant,
  type DemoPartner,
  type DemoPartners,
  readSandboxFile,
  type SandboxFile,
  sandboxFile,
} from './sandbox-file.ts'

const DEMO: Record<'merchant' | 'otherMerchant', NewMerchant> = {
  merchant: { name: 'Demo Coffee House', vpa: 'demo.coffee@svcbank', mcc: '5814' },
  otherMerchant: { name: 'Other Book Shop', vpa: 'other.books@svcbank', mcc: '5942' },
}

const DEMO_ACCOUNT = { accountHolder: 'Demo Merchant', accountNumber: '000012345678', ifsc: 'SVCB0000001' }

/** Tenants that get no tokens, and whether they get no credentials either: whether they are closing (decision A14). */
const DISABLED = statement<{ tenant_id: string; closing: boolean }>(
  'sandbox_disabled_tenants',
  'select tenant_id, closing_at is not null as closing from tenants where disabled_at is not null',
)
const BY_VPA = statement<{ merchant_id: string; access_key: string }>(
  'sandbox_merchant_by_vpa',
  'select merchant_id, access_key from merchants where vpa = $1',
)
const KEY_WORKS = statement<{ tenant_id: string }>(
  'sandbox_key_works',
  'select tenant_id from directory_key_holders(array[$1::bytea]) where usable',
)

/**
 * Makes sure that the demo tenants exist and that `sandbox.json` holds working keys of these. A tenant that an operator
 * disabled or closed keeps the entry that it had, and nothing is created for it.
 */
export async function prepareDemo(services: Services, maker: KeyMaker): Promise<SandboxFile> {
  const { config, publicUrl } = services
  const previous = await readSandboxFile(config.DATA_DIR)
  const { tenants, disabled } = await demoTenants(services, maker, previous)
  logDisabled(services, tenants, disabled)
  const { merchant, incentivePartner, rewardsPartner, otherPartner } = tenants
  for (const partner of [incentivePartner, rewardsPartner, otherPartner])
    if (!disabled.has(partner.partnerId)) await fundDemo(services, partner)
  const qrCodeId = disabled.has(merchant.merchantId)
    ? (previous?.qrCodeId ?? '')
    : await demoQrCode(services, merchant, previous?.qrCodeId)
  if (!disabled.has(rewardsPartner.partnerId)) await demoCards(services, rewardsPartner)
  const coins = disabled.has(incentivePartner.partnerId)
    ? { coinConfigId: previous?.coinConfigId ?? '', coinUserId: incentivePartner.userId }
    : await demoCoins(services, incentivePartner)
  // A second service on the same data ends before the first, most of the time.
  const baseUrl =
    previous && previous.baseUrl !== publicUrl() && (await isServed(previous))
      ? previous.baseUrl
      : publicUrl()
  const file: SandboxFile = { baseUrl, ...tenants, qrCodeId, ...coins }
  await writeWhole(sandboxFile(config.DATA_DIR), `${JSON.stringify(file, null, 2)}\n`)
  return file
}

export const disabledTenants = async (tx: Tx): Promise<DisabledTenants> =>
  new Map((await tx.query(DISABLED, [])).map(({ tenant_id: tenantId, closing }) => [tenantId, { closing }]))

/** The bank account of a demo merchant, unless it has one. */
export async function setDemoAccount(tx: Tx, merchantId: string): Promise<void> {
  if (!(await findPayoutDetails(tx, merchantId)))
    await setPayoutDetails(tx, { merchantId, ...DEMO_ACCOUNT, gstState: null })
}

type DemoTenants = Omit<SandboxFile, 'baseUrl' | 'qrCodeId' | keyof DemoCoins>

const demoTenants = ({ database }: Services, maker: KeyMaker, previous: SandboxFile | undefined) =>
  database.operate(async (tx) => {
    await takeTurn(tx, 'demo tenants')
    const disabled = await disabledTenants(tx)
    const merchant = (who: keyof typeof DEMO) => demoMerchant(tx, maker, disabled, DEMO[who], previous?.[who])
    const partner = (who: keyof DemoPartners) =>
      demoPartner(tx, maker, disabled, DEMO_PARTNERS[who], previous?.[who])
    const tenants: DemoTenants = {
      merchant: await merchant('merchant'),
      otherMerchant: await merchant('otherMerchant'),
      incentivePartner: await partner('incentivePartner'),
      rewardsPartner: await partner('rewardsPartner'),
      otherPartner: await partner('otherPartner'),
    }
    for (const { merchantId } of [tenants.merchant, tenants.otherMerchant])
      if (!disabled.has(merchantId)) await setDemoAccount(tx, merchantId)
    if (!disabled.has(tenants.merchant.merchantId))
      await linkMerchant(tx, tenants.merchant.merchantId, tenants.incentivePartner.partnerId)
    return { tenants, disabled }
  })

function logDisabled({ log }: Services, tenants: DemoTenants, disabled: DisabledTenants): void {
  for (const [name, tenant] of Object.entries(tenants) as [keyof DemoTenants, DemoMerchant | DemoPartner][]) {
    const [kind, tenantId] =
      'merchantId' in tenant ? ['merchant', tenant.merchantId] : ['partner', tenant.partnerId]
    const state = disabled.get(tenantId)
    if (state)
      log.warn(
        { tenantId },
        `${name} of sandbox.json is ${state.closing ? 'closing or closed' : 'disabled'}: its credentials do not work. Run svc admin ${kind} enable ${tenantId} and start again`,
      )
  }
}

/** The demo merchant of a plan: as the previous file has it, else with a new key, else new altogether. */
export async function demoMerchant(
  tx: Tx,
  maker: KeyMaker,
  disabled: DisabledTenants,
  plan: NewMerchant,
  previous: DemoMerchant | undefined,
): Promise<DemoMerchant> {
  const [known] = await tx.query(BY_VPA, [plan.vpa])
  if (!known) {
    const { merchant, apiKey } = await createMerchant(tx, maker, plan)
    return toDemo(merchant, apiKey.secret.reveal())
  }
  const { merchant_id: merchantId, access_key: accessKey } = known
  const state = disabled.get(merchantId)
  if (previous?.merchantId === merchantId) {
    if (state) return previous
    const [holder] = await tx.query(KEY_WORKS, [maker.keyring.digest('api_key_digest', previous.apiKey)])
    if (holder?.tenant_id === merchantId)
      return { merchantId, apiKey: previous.apiKey, accessKey, vpa: plan.vpa }
  }
  if (state?.closing) return { merchantId, apiKey: '', accessKey, vpa: plan.vpa }
  const { secret } = await issueApiKey(tx, maker, merchantId, 'sandbox.json')
  return { merchantId, apiKey: secret.reveal(), accessKey, vpa: plan.vpa }
}

const toDemo = ({ merchantId, accessKey, vpa }: Merchant, apiKey: string): DemoMerchant => ({
  merchantId,
  apiKey,
  accessKey,
  vpa,
})

/** The demo code of the last start while it takes payments, else a new one, made the way every caller makes one. */
async function demoQrCode(
  { selfCall }: Services,
  { apiKey }: DemoMerchant,
  previous: string | undefined,
): Promise<string> {
  const token = await selfCall({
    method: 'POST',
    path: '/api/v0/merchant/token',
    headers: { 'api-key': apiKey },
  })
  const headers = {
    authorization: `Bearer ${(JSON.parse(token.body) as { token: string }).token}`,
    'content-type': 'application/json',
  }
  const codeIn = (body: string) =>
    (JSON.parse(body) as { payload: { qrCodeId: string; status: string } }).payload
  if (previous) {
    const found = await selfCall({
      method: 'GET',
      path: `/api/v0/qr-code/${encodeURIComponent(previous)}`,
      headers,
    })
    if (found.status === 200 && codeIn(found.body).status === 'ACTIVE') return previous
  }
  const body = Buffer.from(
    JSON.stringify({ qrName: 'Demo counter', multipleUse: true, description: 'Made on first start' }),
  )
  const made = await selfCall({ method: 'POST', path: '/api/v0/qr-code', headers, body })
  invariant(made.status === 200, 'the demo QR code was made')
  return codeIn(made.body).qrCodeId
}
