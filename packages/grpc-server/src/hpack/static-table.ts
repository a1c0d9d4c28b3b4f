import { Field } from './field.ts';

const methods = [':method GET', ':method POST'];
const paths = [':path /', ':path /index.html'];
const schemes = [':scheme http', ':scheme https'];
const statuses = ['200', '204', '206', '304', '400', '404', '500'].map((code) => `:status ${code}`);
const named = `accept-charset,accept-encoding gzip@ deflate,accept-language,accept-ranges,accept,
access-control-allow-origin,age,allow,authorization,cache-control,content-disposition,content-encoding,
content-language,content-length,content-location,content-range,content-type,cookie,date,etag,expect,expires,from,host,
if-match,if-modified-since,if-none-match,if-range,if-unmodified-since,last-modified,link,location,max-forwards,
proxy-authenticate,proxy-authorization,range,referer,refresh,retry-after,server,set-cookie,strict-transport-security,
transfer-encoding,user-agent,vary,via,www-authenticate`;

/** RFC 7541 Appendix A. The entry with index 1 comes first. */
export const staticTable: readonly Field[] = [
  ':authority',
  ...methods,
  ...paths,
  ...schemes,
  ...statuses,
  ...named.replaceAll('\n', '').split(','),
].map((entry) => {
  const [name = '', ...value] = entry.split(' ');
  return new Field(name, value.join(' ').replace('@', ','));
});
