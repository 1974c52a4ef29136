import { OPERATIONS } from '@svc/server/operations'
import { expect, onTestFinished, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { openService, tokenOf } from '../harness/service.ts'

const SINCE = new Date('2026-01-15T00:00:00Z')
const SUNSET = new Date('2027-08-01T00:00:00Z')

test('a deprecated operation is marked as such in every response, errors included, and in the document; others are not', async () => {
  const operation = OPERATIONS.find(({ id }) => id === 'getQrCode')!
  Object.assign(operation, { deprecated: { since: SINCE, sunset: SUNSET } })
  onTestFinished(() => void Object.assign(operation, { deprecated: undefined }))
  const service = await openService()
  onTestFinished(() => service.close())
  const { baseUrl } = service.client
  const link = `<${baseUrl}/docs/reference/compatibility#deprecation>; rel="deprecation"; type="text/html"`
  const expected = { deprecation: '@1768435200', sunset: 'Sun, 01 Aug 2027 00:00:00 GMT' }
  const merchant = await service.newMerchant()
  const client = await service.as(merchant)
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', {}))
  const get = (path: string, headers: Record<string, string>) => fetch(`${baseUrl}${path}`, { headers })
  const authorization = `Bearer ${await tokenOf(client, merchant.apiKey)}`
  for (const [id, headers, status] of [
    [qrCodeId, { authorization }, 200],
    ['qr_none', { authorization }, 404],
    [qrCodeId, {}, 401],
  ] as const) {
    const response = await get(`/api/v0/qr-code/${id}`, { ...headers })
    expect(response.status).toBe(status)
    expect(Object.fromEntries(response.headers)).toMatchObject(expected)
    // A failure links to the page of its code besides.
    expect(response.headers.get('link')?.split(', ')[0]).toBe(link)
  }
  const other = await get(`/api/v0/qr-code/${qrCodeId}/payments`, { authorization })
  for (const name of ['deprecation', 'sunset', 'link']) expect(other.headers.get(name)).toBeNull()
  const { paths } = (await (await get('/openapi.json', {})).json()) as Json
  expect(paths['/api/v0/qr-code/{qrCodeId}'].get.deprecated).toBe(true)
  expect(await (await get('/docs/reference/compatibility', {})).text()).toContain('id="deprecation"')
})
