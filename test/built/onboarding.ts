import { createSecretKey } from 'node:crypto'
import { expect } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { AS_MEERA, openHandover } from '../harness/handed-over.ts'
import type { Live } from '../harness/live.ts'
import { asPartner, createCard, type TestPartner } from '../harness/partner.ts'

/** What the wizard of the console asks for, and what the partner does with the sheet that its link shows. */
export async function onboard({ svc }: Live, client: Client, operator: Browser): Promise<void> {
  const created = await operator.post('/partners', {
    name: 'Ananda Gifts',
    products: ['incentive'],
  })
  const { partnerId } = created.json.partner
  const { companyId } = (await operator.post('/companies', { partnerId, name: 'Ananda Mills' })).json
  const plan = { product: 'incentive', accountType: 'GIFT', binType: 'GIFT', cardProgramme: 'Gifts' }
  const account = await operator.post('/card-accounts', { companyId, ...plan, denomination: 500 })
  const { cardAccountId } = account.json
  const funds = { amount: '5000', reference: 'ONBOARD0000001', reason: 'first funding' }
  expect((await operator.post(`/card-accounts/${cardAccountId}/funds`, funds)).status).toBe(200)
  const path = `/card-accounts/${cardAccountId}/cards`
  expect((await operator.post(path, { email: 'first.holder@example.com' })).status).toBe(200)
  const order = ['--email', 'second.holder@example.com', '--reference', 'second-card']
  const { svcCardId } = await svc(['admin', 'cards', 'issue', cardAccountId, ...order])
  expect((await svc(['admin', 'cards', 'issue', cardAccountId, ...order])).svcCardId).toBe(svcCardId)

  const wanted = { name: 'meera@ananda.example', sharedKey: true }
  const { approvalId, link } = (await operator.post(`/tenants/${partnerId}/handovers`, wanted)).json
  await svc(['admin', 'operator', 'approve', approvalId], '', AS_MEERA)
  const { credential, sharedKey } = (await openHandover(client, link)).handover
  const { kid, alg, enc, k } = sharedKey
  const partner = {
    partnerId,
    companyId,
    cardAccountId,
    clientId: credential.credentialId,
    clientSecret: credential.secret,
    sharedKey: { kid, alg, enc, key: createSecretKey(Buffer.from(k, 'base64url')) },
  } as TestPartner
  const issued = await createCard(await asPartner(client, partner), partner, { email: 'third@example.com' })
  expect(payloadOf(issued).accountBalance).toBe(500)
  const another = [partnerId, 'ravi@ananda.example', '--shared-key']
  expect((await svc(['admin', 'member', 'hand-over', ...another])).link).toContain('/portal/link#par_')
}
