// The least that Fastify can do.
import fastify from 'fastify'

const app = fastify()
app.get('/hello', async () => ({ hello: 'world' }))
console.log(JSON.stringify({ msg: 'ready', baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }) }))
