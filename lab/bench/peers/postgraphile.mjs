// PostGraphile: the mutation that issues a card is a function of the database, which runs the statements of ours.
import { createServer } from 'node:http'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

// It is written for Node 22; this is all that it misses in Node 20.
if (!('withResolvers' in Promise))
  Object.assign(Promise, {
    withResolvers() {
      const deferred = {}
      const promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }))
      return Object.assign(deferred, { promise })
    },
  })

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [
    makePgService({
      connectionString: process.env.DATABASE_URL ?? '',
      poolConfig: { max: 12 },
      schemas: ['bench'],
    }),
  ],
  grafserv: { graphiql: false, watch: false },
})
const server = createServer()
// As ours: a caller who is idle for a while is not hung up on.
server.keepAliveTimeout = 60_000
await instance.createServ(grafserv).addTo(server)
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(JSON.stringify({ msg: 'ready', baseUrl: `http://127.0.0.1:${port}` }))
})
