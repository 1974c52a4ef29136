import dns from 'node:dns'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openService } from '../harness/service.ts'

test('HOST=localhost opens one server, at the IPv4 address, whatever else the name resolves to', async () => {
  const { lookup } = dns
  const several = [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ]
  const pretended = (name: string, options: dns.LookupAllOptions, callback: (...found: unknown[]) => void) =>
    name === 'localhost' && options.all ? callback(null, several) : lookup(name, options, callback)
  vi.spyOn(dns, 'lookup').mockImplementation(pretended as never)
  onTestFinished(() => void vi.restoreAllMocks())
  const service = await openService({ env: { HOST: 'localhost' } })
  onTestFinished(() => service.close())
  expect(service.app.http.addresses()).toEqual([expect.objectContaining({ address: '127.0.0.1' })])
})
