// The least that Node can do.
import { createServer } from 'node:http'

const body = Buffer.from('{"hello":"world"}')
const headers = { 'content-type': 'application/json', 'content-length': body.length }
const server = createServer((_, response) => response.writeHead(200, headers).end(body))
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(JSON.stringify({ msg: 'ready', baseUrl: `http://127.0.0.1:${port}` }))
})
