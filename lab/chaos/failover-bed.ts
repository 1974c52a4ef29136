import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnyBed, type BedOptions, inOperatorsName, loginUrls, makeLogins, makeTenants } from './bed.ts'
import { Cluster } from './cluster.ts'
import { Member, svc } from './members.ts'
import { Receiver } from './receiver.ts'

/** A cluster that fails over, as `docs/guides/high-availability.md` sets it up. */
export interface FailoverBed extends AnyBed {
  readonly cluster: Cluster
}

const PASSWORD = 'lab'

/** Every other process reaches the database through HAProxy, the rest by a URL of all nodes. */
export async function makeFailoverBed({ processes, groups }: BedOptions): Promise<FailoverBed> {
  const logs = await mkdtemp(join(tmpdir(), 'svc-failover-logs-'))
  const undo: (() => Promise<unknown>)[] = [() => rm(logs, { recursive: true, force: true })]
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const cluster = await Cluster.open()
    undo.push(() => cluster.close())
    await makeLogins(cluster, PASSWORD)
    const receiver = await Receiver.open(logs)
    undo.push(() => receiver.close())
    const railKey = randomBytes(24).toString('hex')
    const env = {
      SVC_MODE: 'live',
      SVC_MASTER_KEY: randomBytes(32).toString('base64'),
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      APPROVAL_ABOVE_RUPEES: 'none',
      REPLICATION: 'required',
    }
    const byHosts = (login: string) => cluster.urlOf(`${login}:${PASSWORD}`, 'svc')
    const byProxy = (login: string) => `postgresql://${login}:${PASSWORD}@127.0.0.1:${cluster.port}/svc`
    const operator = { ...env, ...loginUrls(byHosts), DATABASE_OWNER_URL: byHosts('svc_migrator') }
    await svc(operator, 'admin', 'migrate')
    const operate = await inOperatorsName(cluster, operator)
    const tenants = await makeTenants(operate, cluster, receiver, groups)
    const members: Member[] = []
    undo.push(() => Promise.all(members.map((member) => member.stop())))
    for (let n = 0; n < processes; n++) {
      const settings = {
        UPI_RAIL_KEYS: railKey,
        PUBLIC_URL: 'https://svc.example.com',
        RATE_LIMIT_PER_SECOND: '0',
        NODE_EXTRA_CA_CERTS: receiver.certificate,
      }
      const url = n % 2 === 0 ? byHosts : byProxy
      members.push(await Member.open({ ...env, ...loginUrls(url), ...settings }, join(logs, `process-${n}`)))
    }
    return { server: cluster, cluster, members, receiver, railKey, ...tenants, operate, close }
  } catch (error) {
    await close()
    throw error
  }
}
