import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

test('lists of merchants and partners say of each what it took lately and what it has, and of others nothing', async () => {
  const merchant = await service.newMerchant({ name: 'Volume Stores' })
  const idle = await service.newMerchant({ name: 'Idle Stores' })
  const code = await newCode(service, await service.as(merchant), { multipleUse: true })
  for (const amount of [100.25, 50]) await notifyCredit(service.client, creditOf(code.tr, { amount }))
  const partner = await newPartner(service, { fundsPaise: 1_000_00n })
  await createCard(await asPartner(service.client, partner), partner, { loadAmount: 300 })
  const viewer = await signedIn(service, 'viewer')
  const of = async (path: string, id: string): Promise<Json> =>
    (await viewer.get(`${path}?q=${id}`)).json.data[0]
  expect(await of('/merchants', merchant.merchantId)).toMatchObject({ taken: '150.25', owed: '150.25' })
  expect(await of('/merchants', idle.merchantId)).toMatchObject({ taken: '0.00', owed: '0.00' })
  expect(await of('/partners', partner.partnerId)).toMatchObject({ spent: '0.00', balance: '700.00' })
  await asSuperuser(service.db.database, (db) =>
    db.query(`update svc.payments set created_at = created_at - interval '8 days' where amount_paise = 5000`),
  )
  expect(await of('/merchants', merchant.merchantId)).toMatchObject({ taken: '100.25', owed: '150.25' })
})
