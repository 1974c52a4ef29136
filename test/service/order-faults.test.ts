import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiResponse, Client } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let issuer: Client
beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
})
afterAll(() => service.close())

/** The rules that an encrypted order breaks, in alphabetical order. */
async function problemsOf(order: object): Promise<string[]> {
  const { status, error, errorDescription }: ApiResponse = await createCard(issuer, partner, order)
  expect([status, error]).toEqual([400, 'validation_failed'])
  return errorDescription!.split('; ').sort()
}
const needed = (part: string) => `${part} is required when physicalDeliveryAddressFlag is true`

test('one response names the fields that are invalid and those that other fields require', async () => {
  const order = {
    physicalDeliveryAddressFlag: true,
    deliveryState: 'MH',
    deliveryCity: '',
    deliveryCountry: 5,
  }
  expect(await problemsOf({ ...order, mobile: '12', loadAmount: 1.5, colour: 'blue' })).toEqual([
    'colour is not a known field',
    needed('deliveryAddress'),
    // An empty text is an absent one (decision C14).
    needed('deliveryCity'),
    'deliveryCountry must be a string, not a number',
    needed('deliveryPincode'),
    'loadAmount must be a whole number of rupees, at least 1',
    'mobile must be exactly 10 digits',
  ])
})

test('a field that is itself invalid requires no other field', async () => {
  expect(await problemsOf({ physicalDeliveryAddressFlag: 'true', loadAmount: 'ten' })).toEqual([
    'loadAmount must be a whole number of rupees, at least 1',
    'physicalDeliveryAddressFlag must be a boolean, not a string',
  ])
})
