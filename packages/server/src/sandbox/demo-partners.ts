import { createSecretKey } from 'node:crypto'
import { insertCardAccount } from '@svc/core/cards/account/card-account'
import type { KeyMaker } from '@svc/core/tenants/api-key'
import { insertCompany } from '@svc/core/tenants/company'
import { issueSharedKey, type SharedKey } from '@svc/core/tenants/jwe-keys'
import { createPartner, issueOAuthClient, type NewPartner, secretDigest } from '@svc/core/tenants/partner'
import { insertUsers, newUserId } from '@svc/core/tenants/user'
import { encrypt } from '@svc/jwe/jwe'
import { invariant } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '../http/operation.ts'
import type { DemoPartner, DemoPartners } from './sandbox-file.ts'

interface Plan {
  readonly partner: NewPartner
  readonly company: string
  readonly account: {
    readonly accountType: 'GIFT' | 'EMPLOYEE_REWARDS'
    readonly binType: string
    readonly programme: string
  }
  readonly user: {
    readonly firstName: string
    readonly lastName: string
    readonly mobile: string
    readonly email: string
  }
}

const DENOMINATION_PAISE = 500_00n

export const GIFT_ACCOUNT = { accountType: 'GIFT', binType: 'GIFT', programme: 'Gift cards' } as const
export const DEMO_PARTNERS = {
  incentivePartner: {
    partner: { name: 'Demo Incentives', products: ['incentive'] },
    company: 'Acme Industries Private Limited',
    account: GIFT_ACCOUNT,
    user: { firstName: 'Asha', lastName: 'Rao', mobile: '9000000001', email: 'asha.rao@example.com' },
  },
  rewardsPartner: {
    partner: { name: 'Demo Rewards', products: ['employee_rewards'] },
    company: 'Globex Services Private Limited',
    account: { accountType: 'EMPLOYEE_REWARDS', binType: 'REWARD', programme: 'Employee rewards' },
    user: { firstName: 'Vikram', lastName: 'Shah', mobile: '9000000002', email: 'vikram.shah@example.com' },
  },
  otherPartner: {
    // Its requests may come without encryption (decision C2).
    partner: { name: 'Other Partner', products: ['incentive'], plainRequests: true },
    company: 'Initech Limited',
    account: GIFT_ACCOUNT,
    user: { firstName: 'Meera', lastName: 'Iyer', mobile: '9000000003', email: 'meera.iyer@example.com' },
  },
} as const satisfies Record<keyof DemoPartners, Plan>

/** Tenants whose credentials do not work, by id; those that are closing get no further ones. */
export type DisabledTenants = ReadonlyMap<string, { readonly closing: boolean }>

interface KnownRow {
  partner_id: string
  company_id: string
  card_account_id: string
  user_id: string
}

const BY_NAME = statement<KnownRow>(
  'sandbox_partner_by_name',
  `select p.partner_id, a.company_id, a.card_account_id, u.user_id
   from partners p join card_accounts a using (partner_id) join users u using (partner_id, company_id)
   where p.name = $1 order by a.card_account_id, u.user_id limit 1`,
)
const CREDENTIALS_WORK = statement<{ works: boolean }>(
  'sandbox_partner_credentials_work',
  `select exists (select from directory_oauth_clients(array[$1]) c where c.secret_digest = $2 and c.usable)
     and exists (select from partner_encryption_keys where partner_id = $3 and kid = $4 and retired_at is null) as works`,
)
const NO_KEY = { kty: 'oct', kid: '', alg: 'A256KW', enc: 'A256GCM', k: '' } as const
const HAS_CARDS = statement<{ found: boolean }>(
  'sandbox_account_has_cards',
  'select exists (select from cards where card_account_id = $1) as found',
)

/** The demo partner of a plan: as the previous file has it, else with new credentials, else new altogether. */
export async function demoPartner(
  tx: Tx,
  maker: KeyMaker,
  disabled: DisabledTenants,
  plan: Plan,
  previous: DemoPartner | undefined,
): Promise<DemoPartner> {
  const [known] = await tx.query(BY_NAME, [plan.partner.name])
  if (!known) return newDemoPartner(tx, maker, plan)
  const ids = {
    partnerId: known.partner_id,
    companyId: known.company_id,
    cardAccountId: known.card_account_id,
    userId: known.user_id,
  }
  const state = disabled.get(ids.partnerId)
  if (previous?.partnerId === ids.partnerId) {
    if (state) return { ...previous, ...ids }
    const digest = secretDigest(maker.keyring, previous.clientId, previous.clientSecret)
    const [check] = await tx.query(CREDENTIALS_WORK, [
      previous.clientId,
      digest,
      ids.partnerId,
      previous.sharedKey.kid,
    ])
    if (check?.works) return { ...previous, ...ids }
  }
  if (state?.closing) return { ...ids, clientId: '', clientSecret: '', sharedKey: NO_KEY }
  const { clientId, clientSecret } = await issueOAuthClient(tx, maker, ids.partnerId, 'sandbox.json')
  const sharedKey = plainKey(await issueSharedKey(tx, maker, ids.partnerId))
  return { ...ids, clientId, clientSecret: clientSecret.reveal(), sharedKey }
}

async function newDemoPartner(
  tx: Tx,
  maker: KeyMaker,
  { partner: wanted, company, account, user }: Plan,
): Promise<DemoPartner> {
  const { partner, client } = await createPartner(tx, maker, wanted)
  const { partnerId } = partner
  const companyId = insertCompany(tx, maker.random, partnerId, company)
  const cardAccountId = insertCardAccount(tx, maker.random, {
    partnerId,
    companyId,
    product: partner.products[0]!,
    ...account,
    denominationPaise: DENOMINATION_PAISE,
  })
  const userId = newUserId(Date.now(), maker.random)
  insertUsers(tx, [{ userId, partnerId, companyId, profile: user }])
  const sharedKey = plainKey(await issueSharedKey(tx, maker, partnerId))
  return {
    partnerId,
    clientId: client.clientId,
    clientSecret: client.clientSecret.reveal(),
    sharedKey,
    companyId,
    cardAccountId,
    userId,
  }
}

const plainKey = ({ k, ...key }: SharedKey) => ({ ...key, k: k.reveal() })

const EMPLOYEES = [
  {
    firstName: 'Ravi',
    lastName: 'Kumar',
    mobile: '9000000011',
    email: 'ravi.kumar@example.com',
    loadAmount: '500',
  },
  {
    firstName: 'Sunita',
    lastName: 'Patel',
    mobile: '9000000012',
    email: 'sunita.patel@example.com',
    loadAmount: '1500',
  },
  {
    firstName: 'Arjun',
    lastName: 'Nair',
    mobile: '9000000013',
    email: 'arjun.nair@example.com',
    loadAmount: '2500',
  },
]

/** The rewards account starts with three cards, issued the way every caller issues them. */
export async function demoCards({ database, selfCall }: Services, partner: DemoPartner): Promise<void> {
  const { partnerId, clientId, clientSecret, sharedKey, companyId, cardAccountId } = partner
  const [row] = await database.operate((tx) => tx.query(HAS_CARDS, [cardAccountId]))
  if (row?.found) return
  const token = await selfCall({
    method: 'POST',
    path: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(
      new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
      }).toString(),
    ),
  })
  const { access_token: bearer } = JSON.parse(token.body) as { access_token: string }
  const headers = {
    authorization: `Bearer ${bearer}`,
    partnerid: partnerId,
    'content-type': 'application/jose',
  }
  const key = {
    kid: sharedKey.kid,
    alg: 'A256KW',
    enc: 'A256GCM',
    key: createSecretKey(Buffer.from(sharedKey.k, 'base64url')),
  } as const
  for (const employee of EMPLOYEES) {
    const body = Buffer.from(
      await encrypt(Buffer.from(JSON.stringify({ companyId, cardAccountId, ...employee })), key),
    )
    // Processes that start at the same instant all find no card: the key makes one of them issue it.
    const response = await selfCall({
      method: 'POST',
      path: '/api/v0/partner/svcCard',
      headers: { ...headers, 'idempotency-key': `demo card ${employee.mobile}`.replaceAll(' ', '-') },
      body,
    })
    invariant(response.status === 200, 'the demo cards were issued')
  }
}
