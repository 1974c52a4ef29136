import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { memberBrowser } from '../harness/portal.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const issue = async (partner: TestPartner, holder: object): Promise<Json> =>
  payloadOf(await createCard(await asPartner(service.client, partner), partner, holder))

test('a member finds the cards of its partner by digits, holder, account and status, and none of another partner', async () => {
  const [partner, other] = [await newPartner(service), await newPartner(service)]
  const asha = await issue(partner, { email: 'asha@cards.example', mobile: '9812300001' })
  const imran = await issue(partner, { email: 'imran@cards.example' })
  await issue(other, { email: 'asha@cards.example' })
  const member = await memberBrowser(service, partner.partnerId)
  const found = async (query: string): Promise<string[]> =>
    (await member.get(`/cards?${query}`)).json.data.map(({ svcCardId }: Json) => svcCardId)
  expect(await found('')).toEqual([imran.svcCardId, asha.svcCardId])
  for (const query of [
    `q=${asha.svcCardId}`,
    `q=${asha.maskedNumber.slice(-4)}`,
    'q=asha@cards.example',
    'q=9812300001',
    `userId=${asha.userId}`,
    `status=L`,
  ]) {
    if (query === 'status=L') {
      const status = `/partner/svcCard/${asha.svcCardId}/status`
      expect((await member.send('PATCH', status, { status: 'L', reason: 'lost' })).status).toBe(200)
    }
    expect([query, await found(query)]).toEqual([query, [asha.svcCardId]])
  }
  expect(await found(`companyId=${other.companyId}`)).toEqual([])
  expect(await found(`cardAccountId=${other.cardAccountId}`)).toEqual([])
  expect(await found(`cardAccountId=${partner.cardAccountId}`)).toHaveLength(2)
  const viewer = await memberBrowser(service, partner.partnerId, 'viewer')
  expect((await viewer.get('/cards.csv')).error).toBe('role_too_low')
  const csv = (await member.get('/cards.csv')).text.trim().split('\r\n')
  expect(csv).toHaveLength(3)
  expect(csv[0]).not.toContain('partnerId')
})
