"""An S3 store that checks signatures, of PyPI's moto: prints its address and a key, and ends with its
parent."""
import json, logging, os, threading, time
from datetime import datetime
from unittest.mock import patch
from urllib.parse import parse_qsl, urlsplit

# The requests that make the user, her key, her policy and the bucket; all later ones must be signed.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
logging.getLogger("werkzeug").disabled = True
import boto3
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.server import DomainDispatcherApplication, ThreadedMotoServer

serve = DomainDispatcherApplication.__call__
# moto compares a condition and then writes, so two writers at the same time could both succeed.
turn = threading.Lock()


def serve_addresses(self, environ, start_response):
    """moto refuses signed addresses: this compares one with botocore's, and signs the request itself."""
    query = dict(parse_qsl(environ["QUERY_STRING"]))
    if "X-Amz-Signature" in query:
        secret = Credentials(key["AccessKeyId"], key["SecretAccessKey"])
        request = AWSRequest("GET", "http://" + environ["HTTP_HOST"] + urlsplit(environ["REQUEST_URI"]).path)
        then = datetime.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%SZ")
        with patch("botocore.auth.get_current_datetime", lambda *_, **__: then):
            S3SigV4QueryAuth(secret, "s3", "us-east-1", int(query["X-Amz-Expires"])).add_auth(request)
        if dict(parse_qsl(urlsplit(request.url).query)) != query:
            start_response("403 Forbidden", [])
            return [b"SignatureDoesNotMatch"]
        request = AWSRequest("GET", request.url.split("?")[0])
        S3SigV4Auth(secret, "s3", "us-east-1").add_auth(request)
        for name, value in request.headers.items():
            environ["HTTP_" + name.upper().replace("-", "_")] = value
        environ["QUERY_STRING"] = ""
        environ["REQUEST_URI"] = environ["RAW_URI"] = urlsplit(request.url).path
    with turn:
        return serve(self, environ, start_response)


DomainDispatcherApplication.__call__ = serve_addresses
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
url = "http://%s:%d" % server.get_host_and_port()
anyone = dict(endpoint_url=url, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
iam = boto3.client("iam", **anyone)
iam.create_user(UserName="attache")
key = iam.create_access_key(UserName="attache")["AccessKey"]
everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
iam.put_user_policy(UserName="attache", PolicyName="all", PolicyDocument=json.dumps(everything))
boto3.client("s3", **anyone).create_bucket(Bucket="bundles")
print(json.dumps({"url": url, "key": key["AccessKeyId"], "secret": key["SecretAccessKey"]}), flush=True)
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(0.5)
server.stop()
