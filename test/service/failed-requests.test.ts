import { expect, test } from 'vitest'
import { API, Browser, newOperator, PASSWORD, PORTAL_API } from '../harness/console.ts'
import { memberBrowser } from '../harness/portal.ts'
import { openService } from '../harness/service.ts'

test('over its budget an address gets 429 for unknown sessions; those of operators and members in use pass', async () => {
  const service = await openService({ env: { SVC_MODE: 'live', FAILED_REQUESTS_PER_SECOND: '5' } })
  const { merchantId } = await service.newMerchant()
  for (const [api, name] of [
    [API, (await newOperator(service, 'viewer')).name],
    [PORTAL_API, (await memberBrowser(service, merchantId)).memberName],
  ] as const) {
    const outsider = new Browser(service, api)
    const signIn = async () => {
      const browser = new Browser(service, api)
      expect((await browser.signIn(name)).status).toBe(200)
      return browser
    }
    const [before, ended] = [await signIn(), await signIn()]
    const past = ended.cookie
    await ended.send('DELETE', '/session')
    ended.cookie = past
    const flood = () =>
      expect.poll(async () => (await outsider.get('/session')).error, { interval: 1 }).toBe('rate_limited')
    await flood()
    expect((await before.get('/session')).status).toBe(200)
    await flood()
    // Signed in while others fail.
    const fresh = await signIn()
    await flood()
    expect((await fresh.get('/session')).status).toBe(200)
    await flood()
    expect((await ended.get('/session')).error).toBe('rate_limited')
  }
  await service.close()
})

test('invitations, links, passkeys and single sign-on are refused before a query while their address is over its budget', async () => {
  const service = await openService({ env: { SVC_MODE: 'live', FAILED_REQUESTS_PER_SECOND: '5' } })
  const [console, portal] = [new Browser(service), new Browser(service, PORTAL_API)]
  const token = 'none'
  const password = PASSWORD
  for (const [browser, path, body] of [
    [console, '/invitation', { token }],
    [console, '/invitation/accept', { token, password }],
    [console, '/session/passkey', {}],
    [console, '/session/oidc', { response: '' }],
    [portal, '/session/passkey', {}],
    [portal, '/link', { token }],
    [portal, '/link/password', { token, password }],
  ] as const) {
    expect((await browser.post(path, body)).error).not.toBe('overloaded')
    await expect
      .poll(async () => (await browser.post(path, body)).error, { interval: 1 })
      .toBe('rate_limited')
  }
  await service.close()
})
