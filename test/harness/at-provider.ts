import { request } from 'undici'

/** Goes where the provider leads until it leads back, as a browser does; returns the query that it brings. */
export async function atProvider(url: string): Promise<string> {
  const cookies = new Map<string, string>()
  for (let next = url, steps = 0; steps < 10; steps++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const { headers, body } = await request(next, { headers: { cookie } })
    await body.dump()
    for (const set of [headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    const { href, pathname, search } = new URL(String(headers.location), next)
    if (pathname === '/console/oidc') return search.slice(1)
    next = href
  }
  throw new Error('the provider does not lead back')
}
